/**
 * Importing a module must do nothing but define things: settings are read, files opened and timers started by functions
 * that main calls. This script imports every module of a folder (`src` unless told) and says which one did what. It
 * leaves out tests, suites and the entry `main/svc.ts`, whose import is the program.
 *
 * A hook puts one call before the body of each module of the folder and one after it. What a module imports has run
 * before the first call, so what changes between the two is the module's own doing, and what changes elsewhere is a
 * package's.
 */
import { globSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { relative, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'

const folder = resolve(process.argv[2] ?? 'src')
const here = pathToFileURL(`${folder}/`).href
const environment = process.env

interface State {
  readonly environment: string
  readonly listeners: string
  readonly globals: string
  readonly running: string
  readonly openFiles: number
}

/** What Node itself keeps busy while it loads modules and runs this script. */
const ofNode = /^(?:FSReq|Immediate|CloseReq|TTYWrap|PipeWrap)/

/**
 * A module's own files and sockets. What Node opens for itself is of another kind, or a file of a package or the
 * system.
 */
const ofOthers = /^(?:anon_inode|pipe):|^\/(?:dev|etc|proc|sys|usr)\/|\/node_modules\//

const isOwn = (descriptor: string): boolean => {
  try {
    return !ofOthers.test(readlinkSync(`/proc/self/fd/${descriptor}`))
  } catch {
    return false // Closed since it was listed, as is the one that listed it.
  }
}

const openFiles = (): number => {
  try {
    return readdirSync('/proc/self/fd').filter(isOwn).length
  } catch {
    return 0 // Only Linux lists them; elsewhere `running` still tells of sockets, timers and requests.
  }
}

const look = (): State => ({
  environment: JSON.stringify(environment),
  listeners: process
    .eventNames()
    .map((event) => `${String(event)} ${process.listenerCount(event)}`)
    .sort()
    .join(', '),
  globals: [globalThis, Object.prototype, Array.prototype, String.prototype, BigInt.prototype, Promise.prototype]
    .flatMap((object) => Reflect.ownKeys(object).map(String))
    .filter((key) => !key.startsWith('Symbol(undici.')) // Node's own fetch, loaded by node:http
    .filter((key) => key !== 'awslambda') // An empty object that the client of the object store leaves, for AWS Lambda only
    .join(' '),
  running: process
    .getActiveResourcesInfo()
    .filter((kind) => !ofNode.test(kind))
    .sort()
    .join(', '),
  openFiles: openFiles(),
})

const differences = (before: State, now: State): string[] => [
  ...(before.environment === now.environment ? [] : ['changes process.env']),
  ...(before.listeners === now.listeners ? [] : [`changes the listeners of process to: ${now.listeners}`]),
  ...(before.globals === now.globals ? [] : ['changes a global object']),
  ...(before.running === now.running ? [] : [`leaves running: ${now.running}`]),
  ...(before.openFiles === now.openFiles ? [] : ['leaves a file open']),
]

const complaints: string[] = []
const written: string[] = []
let envReads: string[] = []
let last: State

const nameOf = (url: string): string => relative(process.cwd(), fileURLToPath(url))

/** Compares with the state before, and blames. */
const settle = (who: string): void => {
  const now = look()
  const found = differences(last, now)
  for (const text of written.splice(0)) found.push(`writes to ${text}`)
  for (const what of found) complaints.push(`${who} ${what}`)
  last = now
}

const probes = {
  before(url: string): void {
    settle(`a package imported by ${nameOf(url)}`)
    envReads = []
  },
  after(url: string): void {
    for (const name of envReads) complaints.push(`${nameOf(url)} reads process.env.${name}`)
    settle(nameOf(url))
  },
}

Reflect.set(globalThis, Symbol.for('svc.import-effects'), probes)
const call = (probe: string, url: string) =>
  `globalThis[Symbol.for('svc.import-effects')].${probe}(${JSON.stringify(url)});`

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.startsWith(here) || loaded.format?.startsWith('module') !== true) return loaded
    // The first call shares a line with the first statement, so that line numbers stay true.
    return {
      ...loaded,
      source: `${call('before', url)}${readFileSync(fileURLToPath(url), 'utf8')}\n${call('after', url)}`,
    }
  },
})

process.env = new Proxy(environment, {
  get(target, name) {
    envReads.push(String(name))
    return Reflect.get(target, name)
  },
})

const report = process.stderr.write.bind(process.stderr)
for (const stream of ['stdout', 'stderr'] as const) {
  process[stream].write = (text: string | Uint8Array): boolean => {
    written.push(`${stream}: ${String(text).trim().slice(0, 80)}`)
    return true
  }
}

const files = globSync('**/*.ts', { cwd: folder })
  .filter((file) => !/\.(?:test|suite)\.ts$/.test(file) && file !== 'main/svc.ts')
  .sort()
let current = ''

process.on('exit', () => {
  if (current !== '') complaints.push(`${current} ends the process, or waits forever, while it is imported`)
  for (const complaint of complaints) report(`${complaint}\n`)
  process.exitCode = complaints.length > 0 ? 1 : 0
})

last = look()
for (const file of files) {
  current = relative(process.cwd(), resolve(folder, file))
  try {
    await import(pathToFileURL(resolve(folder, file)).href)
    await setImmediate()
    settle(`${current}, after its import,`)
  } catch (error) {
    complaints.push(`${current} cannot be imported: ${error instanceof Error ? error.message : String(error)}`)
  }
}
current = ''
process.exit()
