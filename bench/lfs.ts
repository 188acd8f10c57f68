import { randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { GiB, KiB, MiB } from '../src/kernel/units.ts'
import { type GitDesk, newGitRemote, sitDownWithGit } from '../test/harness/git-desks.ts'
import { cpuSeconds, forgetPeak, installed, peakMiB } from './processes.ts'
import { type Bench, startGiftless, startSvc } from './servers.ts'
import { median, type Row, table } from './table.ts'

const rounds = 3
const smallBytes = 4 * KiB

/** What came of one command of git: how long it took, and what the server took for it. */
interface Took {
  readonly seconds: number
  readonly cpu: number
  readonly memory: number
}

/**
 * `npm run bench -- --lfs <objects>`: git-lfs as it is installed pushes and fetches so many objects of 4 KiB, and one
 * of 1 GiB, beside giftless where that is installed. The client is the same, and takes more of the processor than a
 * server does: the CPU of the servers stands beside the time.
 */
export const measureLfs = async (objects: number, engines: readonly string[]): Promise<void> => {
  if (engines.length === 1) console.log('This one is measured on SQLite and a folder alone.')
  const servers = [await startSvc()]
  if (installed('gunicorn')) servers.push(await startGiftless())
  else console.log('gunicorn with giftless is not on the path: left out')
  const desk = await sitDownWithGit('bench')
  const figures = new Map<string, Map<string, Took[]>>()
  try {
    for (let round = 0; round < rounds; round++)
      for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
        const add = (what: string, took: Took): void => {
          const of = figures.get(what) ?? new Map<string, Took[]>()
          figures.set(what, of.set(server.name, [...(of.get(server.name) ?? []), took]))
        }
        const many = await projectOf(desk, server, `many-${round}-${server.name}`)
        await writeSmall(many, objects)
        for (const [what, took] of await thereAndBack(desk, server, many)) add(`small ${what}`, took)
        const one = await projectOf(desk, server, `one-${round}-${server.name}`)
        await writeLarge(join(one, 'large.bin'))
        for (const [what, took] of await thereAndBack(desk, server, one)) add(`large ${what}`, took)
      }
  } finally {
    await desk[Symbol.asyncDispose]()
  }
  const row = (key: string, what: string, unit: string, of: (took: Took) => number, better: Row['better']): Row => ({
    what,
    unit,
    better,
    meaning: '',
    figures: new Map([...(figures.get(key) ?? [])].map(([name, all]) => [name, median(all.map(of))])),
  })
  const rows = (['push', 'fetch'] as const).flatMap((way) => [
    row(`small ${way}`, `${way} of ${objects} objects of 4 KiB`, '1/s', ({ seconds }) => objects / seconds, 'more'),
    row(`small ${way}`, '  CPU of the server, an object', 'µs', ({ cpu }) => (cpu / objects) * 1e6, 'less'),
    row(`large ${way}`, `${way} of an object of 1 GiB`, 'MiB/s', ({ seconds }) => GiB / MiB / seconds, 'more'),
    row(`large ${way}`, '  CPU of the server', 's', ({ cpu }) => cpu, 'less'),
    row(`large ${way}`, '  most memory of it', 'MiB', ({ memory }) => memory, 'less'),
  ])
  console.log(`\nmedians of ${rounds} rounds\n${table(rows, ['giftless'])}`)
  for (const { process } of servers) process.kill('SIGTERM')
}

/** A clone of a Git repository of its own, whose large files are at the server. */
const projectOf = async (desk: GitDesk, server: Bench, name: string): Promise<string> => {
  const { url, headers } = server.download(name, '')
  const { origin } = new URL(url)
  const credential = headers['authorization']?.replace('Bearer ', '')
  if (credential !== undefined) await desk.keepPassword(origin, credential)
  const address = server.recoveryKey === undefined ? `${origin}/bench/${name}` : `${origin}/lfs/releases/${name}`
  return desk.clone(await newGitRemote(desk, name, address), name)
}

const writeSmall = async (folder: string, count: number): Promise<void> => {
  for (let index = 0; index < count; index++) {
    const below = join(folder, String(index % 100))
    if (index < 100) await mkdir(below)
    await writeFile(join(below, `${index}.bin`), randomBytes(smallBytes))
  }
}

const writeLarge = (path: string): Promise<void> =>
  pipeline(
    Readable.from(
      (function* () {
        for (let left = GiB; left > 0; left -= MiB) yield randomBytes(MiB)
      })(),
    ),
    createWriteStream(path),
  )

/** Pushes what is in the folder, and fetches it after it was lost. Fails unless all of it came back. */
const thereAndBack = async (desk: GitDesk, server: Bench, folder: string): Promise<[string, Took][]> => {
  await desk.commit(folder, {})
  const push = await measured(server, () => desk.git(folder, 'lfs', 'push', '--all', 'origin'))
  await rm(join(folder, '.git/lfs/objects'), { recursive: true })
  const fetch = await measured(server, () => desk.git(folder, 'lfs', 'fetch'))
  await desk.git(folder, 'lfs', 'fsck')
  await rm(folder, { recursive: true })
  return [
    ['push', push],
    ['fetch', fetch],
  ]
}

const measured = async (server: Bench, work: () => Promise<unknown>): Promise<Took> => {
  const pid = server.process.pid ?? Number.NaN
  forgetPeak(pid)
  const cpu = cpuSeconds(pid)
  const began = performance.now()
  await work()
  const seconds = (performance.now() - began) / 1000
  return { seconds, cpu: cpuSeconds(pid) - cpu, memory: peakMiB(pid) }
}
