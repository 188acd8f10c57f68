import { busy, busyVersion, busyVersionsMax, catalogPackage } from './packages-catalog.ts'
import { fillPackages } from './packages-fill.ts'
import { fillPlace, measure, onEngines, printStarts, type Site, startSite } from './scale-site.ts'

const api = '/api/v1/repositories/releases/packages'
const times = 400

type Query = Readonly<Record<string, string>>

interface Asked {
  readonly method?: 'GET' | 'HEAD'
  readonly path: string
  readonly query: (index: number) => Query
  /** When not 2xx. */
  readonly status?: number
}

/**
 * `npm run bench -- --packages <packages>`: are packages resolved and listed as quickly when there are very many? Fills
 * a repository with so many packages, and with as many versions of one more, up to ten thousand; then asks for them
 * over HTTP, one request after the other. The aim is less than 5 ms for every way to resolve. `--engine sqlite` or
 * `postgres` asks one only.
 */
export const measurePackages = (count: number, engines: readonly string[]): Promise<void> =>
  onEngines(engines, async (engine, settings) => {
    const versions = Math.min(count, busyVersionsMax)
    console.log(`\n${engine}, ${count} packages and ${versions} versions of one more`)
    const place = await settings()
    await fillPlace(place, { count: count + versions, each: 'version' }, (database, store) =>
      fillPackages(database, store, count + versions, (index) =>
        index < count ? catalogPackage(index) : busyVersion(index - count),
      ),
    )
    await printStarts(place)
    const site = await startSite(place)
    for (const [what, asked] of Object.entries({ ...selections(count, versions), ...(await lists(site, count)) }))
      await resolve(what, site, asked)
    site.client.close()
  })

const resolve = (what: string, { client }: Site, asked: Asked): Promise<void> =>
  measure(what, times, (index) => client.timed(`${api}${asked.path}?${new URLSearchParams(asked.query(index))}`, asked))

/** Jumps about among `below`. */
const someOf = (index: number, below: number): number => (index * 7919) % below

const selections = (count: number, versions: number): Readonly<Record<string, Asked>> => {
  const path = '/resolve'
  const of = (query: (index: number) => Query): Asked => ({ path, query: (index) => ({ ...busy, ...query(index) }) })
  const none = (query: (index: number) => Query): Asked => ({ ...of(query), status: 404 })
  const some = (index: number): string => busyVersion(someOf(index, versions)).version
  const release = (index: number): string => some(index).replace(/-.*/, '')
  const majors = Number.parseInt(busyVersion(versions - 1).version, 10)
  const old = `<=${1 + Math.floor(majors / 2)}.0.0`
  const many = Array.from({ length: Math.min(majors, 50) }, (_, index) => `${index + 1}.x`).join('||')
  return {
    'exact version': of((index) => ({ version: some(index) })),
    'exact version of any package': {
      path,
      query: (index) => {
        const { group, name, version } = catalogPackage(someOf(index, count))
        return { group, name, version }
      },
    },
    'no such package': { path, query: (index) => ({ name: `absent-${index}` }), status: 404 },
    latest: of(() => ({})),
    'latest, pre-releases too': of(() => ({ prerelease: 'true' })),
    'range ^x.y.z': of((index) => ({ range: `^${release(index)}` })),
    'range ~x.y.z': of((index) => ({ range: `~${release(index)}` })),
    'range >=x.y.z-0': of((index) => ({ range: `>=${release(index)}-0` })),
    'range of all': of(() => ({ range: '*' })),
    'range of many parts': of(() => ({ range: many })),
    'range of many parts, pre-releases too': of(() => ({ range: many, prerelease: 'true' })),
    'range that nothing matches': none((index) => ({ range: `>${majors + 1}.0.0 || =1.${100 + (index % 100)}.0` })),
    'stage, most versions': of(() => ({ stage: 'tested' })),
    'stage, few versions': of(() => ({ stage: 'released' })),
    'stage and range': of((index) => ({ stage: 'approved', range: `>=${release(index % 50)}` })),
    'stage and range, no match': none(() => ({ stage: 'tested', range: `>${majors + 1}.0.0` })),
    'stage that nothing has': none(() => ({ stage: 'absent' })),
    'last promoted': of(() => ({ stage: 'tested', order: 'promoted' })),
    'last promoted in a range': of((index) => ({
      ...{ stage: 'tested', order: 'promoted' },
      range: `^${1 + (index % majors)}.0.0`,
    })),
    'last promoted in the older half': of(() => ({ stage: 'tested', order: 'promoted', range: old })),
    'last promoted, no match': none(() => ({ stage: 'tested', order: 'promoted', range: `>${majors + 1}.0.0` })),
    'content by range (HEAD)': {
      ...of((index) => ({ range: `^${release(index)}` })),
      path: '/content',
      method: 'HEAD',
    },
  }
}

const lists = async ({ client }: Site, count: number): Promise<Readonly<Record<string, Asked>>> => {
  const asked: Record<string, Asked> = {}
  const list = (what: string, query: Query): void => {
    asked[what] = { path: '', query: () => query }
  }
  for (const sort of ['group', 'name', 'version'])
    for (const direction of ['asc', 'desc']) {
      const query = { sort, direction, limit: '50' }
      const { next } = await client.ask('GET', `${api}?${new URLSearchParams(query)}`)
      list(`packages by ${sort}, ${direction}`, query)
      list(`packages by ${sort}, ${direction}, next page`, { ...query, after: String(next) })
    }
  list('packages, 100 put together by package', { groupBy: 'package', limit: '100' })
  list('packages, 100 put together by group', { groupBy: 'group', limit: '100' })
  for (const direction of ['asc', 'desc'])
    list(`versions of one, ${direction}`, { ...busy, sort: 'version', direction })
  asked['packages of a group by version'] = {
    path: '',
    query: (index) => ({ group: catalogPackage(someOf(index, count)).group, sort: 'version' }),
  }
  asked['packages of a name'] = { path: '', query: (index) => ({ name: catalogPackage(someOf(index, count)).name }) }
  return asked
}
