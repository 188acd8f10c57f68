import { readFileSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { cpus, release } from 'node:os'
import { parseArgs } from 'node:util'
import { GiB } from '../src/kernel/units.ts'
import { measureBackups, measureGenerated } from './backups.ts'
import { measureConsole } from './console.ts'
import { measureImages } from './images.ts'
import { measureLfs } from './lfs.ts'
import { measureNpm } from './npm.ts'
import { measurePackages } from './packages.ts'
import { cpuSeconds, installed, makeFolder, tidyUp } from './processes.ts'
import { measureScale } from './scale.ts'
import { scenarios } from './scenarios.ts'
import { peerNames, startServers } from './servers.ts'
import { brief, type Sizes, thorough } from './setting.ts'
import { measureSmallFiles } from './small-files.ts'
import { meanings, type Row, table } from './table.ts'
import { measureWebhooks } from './webhooks.ts'

/*
 * `npm run bench`: this service beside the peers that are installed, in one run, their rounds interleaved. Machines
 * differ and are noisy: read the ratios, and of those the medians. `--quick` takes some two minutes with small sizes,
 * to see that everything works; `--only <scenario>` runs one scenario; `--before <checkout>` adds this service as it is
 * in another checkout, in which `npm ci` has run, as a peer. The last one, `hostile`, is about this service alone,
 * beside neighbours who mean no good (bench/hostile.ts); `--profile <folder>` writes down what keeps its event loop
 * busy then. `--scale <files>` and `--packages <packages>` ask another question, by themselves: whether it stays as
 * quick with so many files stored (bench/scale.ts), and whether packages are resolved and listed as quickly among so
 * many (bench/packages.ts). `--small <files>` measures small files in the database and beside it
 * (bench/small-files.ts). `--images <tags>` pushes and pulls container images beside docker-registry, and lists so many
 * tags and images (bench/images.ts). `--backups <files>` takes, verifies and restores backups beside restic
 * (bench/backups.ts), `--points <files>` only points of so many files, generated. `--lfs <objects>` has git
 * push and fetch so many small files and a large one, beside giftless where it is installed (bench/lfs.ts).
 * `--npm <packages>` reads, publishes and installs npm packages beside Verdaccio where it is installed
 * (bench/npm.ts). `--webhooks <changes>` measures how far subscriptions are behind
 * (bench/webhooks.ts). `--console <files>` looks at the pages for browsers among so many, and goes
 * through the first minutes of a newcomer (bench/console.ts); `--kept <folder>` keeps what it filled.
 */

/** Linux's names of the file systems that one is likely to meet (statfs(2)). */
const fileSystems: Readonly<Record<number, string>> = {
  61267: 'ext4',
  16914836: 'tmpfs',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  2035054128: 'overlay',
}

const options = {
  quick: { type: 'boolean' },
  only: { type: 'string' },
  scale: { type: 'string' },
  packages: { type: 'string' },
  small: { type: 'string' },
  images: { type: 'string' },
  backups: { type: 'string' },
  points: { type: 'string' },
  lfs: { type: 'string' },
  npm: { type: 'string' },
  webhooks: { type: 'string' },
  console: { type: 'string' },
  kept: { type: 'string' },
  before: { type: 'string' },
  engine: { type: 'string' },
  profile: { type: 'string' },
} as const

/** What is measured by itself: with how much stored, and on which engines. */
interface Alone {
  readonly count: number
  readonly engines: readonly string[]
  readonly measure: (count: number, engines: readonly string[]) => Promise<void>
}

const measuredAlone = (): Alone | null => {
  const { values } = parseArgs({ options })
  const engines = ['sqlite', 'postgres']
  if (values.engine !== undefined && !engines.includes(values.engine))
    throw new Error(`--engine takes one of: ${engines.join(', ')}`)
  for (const [name, measure] of [
    ['scale', measureScale],
    ['packages', measurePackages],
    ['images', measureImages],
    ['backups', measureBackups],
    ['points', measureGenerated],
    ['lfs', measureLfs],
    ['npm', measureNpm],
    ['webhooks', measureWebhooks],
    ['console', (files: number, on: readonly string[]) => measureConsole(files, on, values.kept)],
    ['small', (files: number, on: readonly string[]) => measureSmallFiles(files, on, values.before)],
  ] as const) {
    const wanted = values[name]
    if (wanted === undefined) continue
    const count = Number(wanted)
    if (!Number.isInteger(count) || count < 1_000) throw new Error(`--${name} takes a number from 1000 on`)
    return { count, engines: values.engine === undefined ? engines : [values.engine], measure }
  }
  return null
}

const chosen = (): { sizes: Sizes; names: string[]; profiles: string | null } => {
  const { values } = parseArgs({ options })
  const names = Object.keys(scenarios)
  if (values.only !== undefined && !names.includes(values.only))
    throw new Error(`--only takes one of: ${names.join(', ')}`)
  return {
    sizes: values.quick === true ? brief : thorough,
    names: values.only === undefined ? names : [values.only],
    profiles: values.profile ?? null,
  }
}

const load = (): string => readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 2).join(' ')

const main = async (): Promise<void> => {
  const alone = measuredAlone()
  if (alone !== null) {
    await alone.measure(alone.count, alone.engines)
    console.log(`\nload ${load()} after.`)
    return
  }
  const { sizes, names, profiles } = chosen()
  for (const tool of ['curl', 'wrk'])
    if (!installed(tool)) throw new Error(`install ${tool} first (apt-get install ${tool})`)
  const scratch = await makeFolder('files')
  const disk = await statfs(scratch)
  // Sources and copies of all rounds on three servers, and the parallel uploads.
  const room = 20 * sizes.bigBytes + 100 * sizes.parallelUploadBytes
  if (disk.bavail * disk.bsize < room)
    throw new Error(`${scratch} needs ${Math.ceil(room / GiB)} GiB of room; set TMPDIR or take --quick`)
  console.log(
    `${cpus().length} x ${cpus()[0]?.model.trim()}, Linux ${release()}, Node ${process.version}, ${fileSystems[disk.type] ?? `file system ${disk.type}`}; load ${load()} before`,
  )
  console.log(
    `${sizes.rounds} rounds, interleaved; medians. Big files have ${sizes.bigBytes / 1024 ** 2} MiB; ${sizes.puts} small PUTs and ${sizes.getSeconds} s of small GETs a round.\n`,
  )
  const servers = await startServers(parseArgs({ options }).values.before)
  const rows: Row[] = []
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (!names.includes(name)) continue
    console.log(`… ${name}`)
    rows.push(...(await scenario({ servers, sizes, scratch, profiles })))
  }
  if (rows.length > 0) {
    console.log(`\n${table(rows, peerNames)}\n`)
    console.log('Ratios above 1 speak for svc: more done, or less time, CPU or memory. One worker process each.')
    console.log(`${meanings(rows)}\n`)
  }
  const used = servers.map((server) => `${server.name} ${cpuSeconds(server.process.pid ?? 0).toFixed(1)}`)
  console.log(`CPU seconds in all: ${used.join(', ')}; load ${load()} after.`)
}

let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    interrupted = true
    void tidyUp().finally(() => process.exit(1))
  })
try {
  await main()
} catch (error) {
  // Clients and servers that were just ended fail, and that is no news.
  if (!interrupted) console.error(error)
  process.exitCode = 1
} finally {
  await tidyUp()
}
