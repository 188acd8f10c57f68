import { catalogFile } from './scale-catalog.ts'
import { fill } from './scale-fill.ts'
import { fillPlace, measure, onEngines, printStarts, type Site, startSite } from './scale-site.ts'
import type { SvcClient } from './svc-client.ts'

const api = '/api/v1/repositories/releases'
const times = 200

/**
 * `npm run bench -- --scale <files>`: does it stay as quick when very much is stored? Fills a repository and asks it
 * over HTTP, one request after the other, beside a service that has nothing. `--engine sqlite` or `postgres` asks one
 * only.
 */
export const measureScale = (count: number, engines: readonly string[]): Promise<void> =>
  onEngines(engines, async (engine, settings) => {
    console.log(`\n${engine}, ${count} files`)
    const nothing = await settings()
    const place = await settings()
    await fillPlace(place, { count, each: 'file' }, (database, store) => fill(database, store, count))
    await printStarts(place, nothing)
    const [full, empty] = [await startSite(place), await startSite(nothing)]
    await report(full, empty, count)
    full.client.close()
    empty.client.close()
  })

const timed = (what: string, { client }: Site, path: (index: number) => string): Promise<void> =>
  measure(what, times, (index) => client.timed(path(index)))

const report = async (full: Site, empty: Site, count: number): Promise<void> => {
  const after = await someIds(full.client, count)
  const from = (index: number): string => `after=${after[index % after.length] ?? ''}`
  await timed('page of files', full, (index) => `${api}/artifacts?limit=100&${from(index)}`)
  await timed('page of paths under a deep prefix', full, (index) => {
    const path = catalogFile((index * 7919) % count)
      .path.split('/')
      .slice(0, 4)
      .join('/')
    return `${api}/assets/page?limit=100&prefix=${encodeURIComponent(`${path}/`)}`
  })
  const path = (index: number): string => encodeURIComponent(catalogFile((index * 7919) % count).path)
  await timed('one file by its id', full, (index) => `${api}/artifacts/${after[index % after.length] ?? ''}`)
  await timed('one file by its path', full, (index) => `${api}/asset?path=${path(index)}`)
  await timed('history of a path', full, (index) => `${api}/asset/history?path=${path(index)}`)
  await timed('annotations of a file', full, (index) => {
    const id = after[index % after.length] ?? ''
    return `${api}/artifacts/${id}/annotations`
  })
  // Every file has a line of the journal, and some have more.
  const line = (index: number): number => (index * 7919) % count
  await timed('page of the audit', full, (index) => `${api}/audit?after=${line(index)}`)
  await timed('page of changes', full, (index) => `${api}/changes?limit=100&after=${line(index)}`)
  const some = (index: number): string => catalogFile((index * 7919) % count).metadata['commit'] ?? ''
  const needles: Readonly<Record<string, (index: number) => string>> = {
    'common, 1 character': () => 'e',
    'common, 2': () => 'se',
    'common, 3': () => 'ser',
    'common, 12': () => 'amd64.tar.gz',
    'rare, 1': () => '№',
    'rare, 2': () => ' №',
    'rare, 3': () => 'd-p',
    'rare, 12': (index) => some(index).slice(4, 16),
    'one in 64, 12': () => 'runner-17.ci',
    'absent, 1': () => '☃',
    'absent, 2': () => 'zq',
    'absent, 3': () => 'zzq',
    'absent, 12': () => 'quick-silver',
    'absent, 12 digits': () => '0123456789ab',
  }
  for (const [what, needle] of Object.entries(needles))
    for (const filter of ['', '&label=release', '&collection=chosen']) {
      const name = `search: ${what}${filter.replace('&', ', ').replace('=', ' ')}`
      await timed(name, full, (index) => {
        // Half of them from the beginning, half from somewhere.
        const start = index % 2 === 0 ? '' : `&${from(index)}`
        return `${api}/search?q=${encodeURIComponent(needle(index))}${filter}${start}`
      })
    }
  for (const filter of ['label=release', 'collection=chosen', 'label=none', 'metadataKey=branch&metadataValue=main'])
    await timed(`search: ${filter.replaceAll('=', ' ').replace('&', ', ')}`, full, () => `${api}/search?${filter}`)
  for (const [what, { client }] of [
    ['publish', full],
    ['publish, nothing stored', empty],
    ['publish again', full],
  ] as const)
    await measure(what, times, async (index) => {
      const body = Buffer.from(`${what} ${index}`)
      const path = `bench/${what.replaceAll(/\W/g, '-')}/${index}-service.tar.gz`
      const began = performance.now()
      await client.send('PUT', `${api}/raw/${path}`, body, { 'content-length': String(body.byteLength) })
      return performance.now() - began
    })
}

/** Ids from all over the repository, found by files that are known. */
const someIds = async (client: SvcClient, count: number): Promise<string[]> => {
  const ids: string[] = []
  for (let index = 0; index < count; index += Math.ceil(count / 50)) {
    const { artifactId } = await client.ask('GET', `${api}/asset?path=${encodeURIComponent(catalogFile(index).path)}`)
    ids.push(String(artifactId))
  }
  return ids
}
