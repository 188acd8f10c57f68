import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { run } from './processes.ts'
import { type Bench, person } from './servers.ts'

type Headers = Readonly<Record<string, string>>

const headerFlags = (headers: Headers): string[] =>
  Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])

/** Seconds until `clients` curls have each fetched the whole file. Fails unless each got all its bytes. */
export const downloadSeconds = async (
  server: Bench,
  name: string,
  sha256: string,
  bytes: number,
  clients: number,
): Promise<number> => {
  const { url, headers } = server.download(name, sha256)
  const began = performance.now()
  const flags = ['-sSf', '--no-buffer', '-o', '/dev/null', '-w', '%{size_download}', ...headerFlags(headers), url]
  const got = await Promise.all(Array.from({ length: clients }, () => run('curl', flags)))
  const seconds = (performance.now() - began) / 1000
  for (const size of got) if (Number(size) !== bytes) throw new Error(`${server.name} sent ${size} of ${bytes} bytes`)
  return seconds
}

/** Seconds until `clients` curls have each stored a file of their own: `files` gives each its name, digest and path. */
export const uploadSeconds = async (
  server: Bench,
  files: readonly { name: string; sha256: string; path: string }[],
): Promise<number> => {
  const began = performance.now()
  await Promise.all(
    files.map(async ({ name, sha256, path }) => {
      const { url, headers } = await server.upload(name, sha256)
      await run('curl', ['-sSf', '-o', '/dev/null', '-T', path, ...headerFlags(headers), url])
    }),
  )
  return (performance.now() - began) / 1000
}

/**
 * One small file fetched again and again over 32 connections: how many answers in how many seconds. All must be 200.
 * `wrk` asks, which needs a fraction of a core: a client in JavaScript takes as much as the server does, and would be
 * what is measured.
 */
export const smallGets = async (
  server: Bench,
  name: string,
  sha256: string,
  seconds: number,
): Promise<{ count: number; seconds: number }> => {
  const { url, headers } = server.download(name, sha256)
  return await gets(server.name, url, headers, seconds)
}

/** The same of any address of a server; a script may say which ones below it. */
export const gets = async (
  name: string,
  url: string,
  headers: Headers,
  seconds: number,
  script: readonly string[] = [],
): Promise<{ count: number; seconds: number }> => {
  const [file, ...more] = script
  const scripted = file === undefined ? [url] : ['-s', file, url, '--', ...more]
  const out = await run('wrk', [
    '-t1',
    '-c32',
    '--timeout',
    '60s',
    `-d${seconds}s`,
    ...headerFlags(headers),
    ...scripted,
  ])
  const count = Number(/(\d+) requests in/.exec(out)?.[1])
  const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(out)?.[1])
  if (!(count > 0) || /Non-2xx|Socket errors/.test(out)) throw new Error(`${name}: ${out}`)
  return { count, seconds: count / perSecond }
}

/**
 * Seconds until distinct small files are stored, `connections` at a time. The client is the same for every server. A
 * tool for load would not do: some servers are asked for an address before each file is sent, and every file is another
 * one.
 */
export const smallPuts = async (
  server: Bench,
  bytes: number,
  count: number,
  connections: number,
  round: string,
): Promise<number> => {
  const files = Array.from({ length: count }, (_, index) => smallFile(bytes, round, index))
  return await byWorkers(connections, count, async (agent, index) => {
    const file = files[index]
    if (file === undefined) return
    const { url, headers } = await server.upload(file.name, file.sha256)
    await send(agent, 'PUT', url, headers, file.body)
  })
}

const eachOnceScript = fileURLToPath(new URL('each-once.lua', import.meta.url))

/** Files that differ in their contents, `<round>-0` to `<round>-<count - 1>`. */
interface SmallFiles {
  readonly round: string
  readonly bytes: number
  readonly count: number
}

/**
 * Seconds until small files of this service are stored or fetched, each once, over 32 connections; fetched in another
 * order than stored in. `wrk` asks, for the reason above, with a script.
 */
export const eachOnce = async (
  server: Bench,
  method: 'GET' | 'PUT',
  { round, bytes, count }: SmallFiles,
): Promise<number> => {
  const { url, headers } = server.download(`${round}-`, '')
  const { origin, pathname } = new URL(url)
  const script = ['-s', eachOnceScript, origin, '--', method, pathname, String(bytes), String(count), round]
  const out = await run('wrk', ['-t1', '-c32', '-d600s', ...headerFlags(headers), ...script])
  const seconds = Number(/each once in ([\d.]+) seconds/.exec(out)?.[1])
  if (!(seconds > 0)) throw new Error(`${server.name}: ${out}`)
  return seconds
}

/** Milliseconds that each of small PUTs takes: at least so many, and more for as long as `goesOn` says. */
export const timedPuts = async (
  server: Bench,
  bytes: number,
  least: number,
  connections: number,
  round: string,
  goesOn: () => boolean,
): Promise<number[]> => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const took: number[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < least || goesOn()) {
      const { name, body, sha256 } = smallFile(bytes, round, next++)
      const { url, headers } = await server.upload(name, sha256)
      const began = performance.now()
      await send(agent, 'PUT', url, headers, body)
      took.push(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  agent.destroy()
  return took
}

/**
 * Milliseconds that each of small PUTs takes, of which so many a second are sent, whether those before have been
 * answered or not.
 */
export const offeredPuts = async (
  server: Bench,
  bytes: number,
  perSecond: number,
  count: number,
  round: string,
): Promise<number[]> => {
  const agent = new Agent({ keepAlive: true })
  const put = async (index: number): Promise<number> => {
    const { name, body, sha256 } = smallFile(bytes, round, index)
    const { url, headers } = await server.upload(name, sha256)
    const began = performance.now()
    await send(agent, 'PUT', url, headers, body)
    return performance.now() - began
  }
  const began = performance.now()
  const took: Promise<number>[] = []
  for (let index = 0; index < count; index++) {
    const earlyMs = began + (index * 1_000) / perSecond - performance.now()
    if (earlyMs > 0) await pause(earlyMs)
    took.push(put(index))
  }
  const all = await Promise.all(took)
  agent.destroy()
  return all
}

const smallName = (round: string, index: number): string => `small-${round}-${index}`

const smallFile = (bytes: number, round: string, index: number) => {
  const body = randomBytes(bytes)
  return { name: smallName(round, index), body, sha256: createHash('sha256').update(body).digest('hex') }
}

/** Does so many things on so many connections, and says how many seconds that took. */
const byWorkers = async (
  connections: number,
  count: number,
  work: (agent: Agent, index: number) => Promise<void>,
): Promise<number> => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(agent, index)
  }
  const began = performance.now()
  await Promise.all(Array.from({ length: connections }, worker))
  const seconds = (performance.now() - began) / 1000
  agent.destroy()
  return seconds
}

/** Resolves with how many bytes the answer has. */
const send = (
  agent: Agent,
  method: 'GET' | 'PUT',
  url: string,
  headers: Headers,
  body: Uint8Array = Buffer.alloc(0),
): Promise<number> =>
  new Promise((resolve, reject) => {
    const length = method === 'PUT' ? { 'content-length': String(body.byteLength) } : {}
    const outgoing = request(url, { agent, method, headers: { ...headers, ...length } })
    outgoing.on('error', reject)
    outgoing.on('response', (incoming) => {
      let got = 0
      incoming.on('data', (piece: Uint8Array) => {
        got += piece.byteLength
      })
      incoming.on('end', () => {
        if ((incoming.statusCode ?? 500) < 300) resolve(got)
        else reject(new Error(`${url}: ${incoming.statusCode}`))
      })
    })
    outgoing.end(body)
  })

const signIn = async (base: string): Promise<void> => {
  const answer = await fetch(`${base}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(person),
  })
  if (answer.status !== 200) throw new Error(`sign-in: ${answer.status}`)
  await answer.arrayBuffer()
}

/** Milliseconds of probes one after the other, sorted, for as long as `count` sign-ins take, `atOnce` at a time. */
export const probesDuringSignIns = async (base: string, count: number, atOnce: number): Promise<number[]> => {
  let left = count
  let busy = true
  const worker = async (): Promise<void> => {
    while (left-- > 0) await signIn(base)
  }
  const probes = async (): Promise<number[]> => {
    const took: number[] = []
    while (busy) {
      const began = performance.now()
      await (await fetch(`${base}/health/live`)).arrayBuffer()
      took.push(performance.now() - began)
    }
    return took.sort((a, b) => a - b)
  }
  const signIns = Promise.all(Array.from({ length: atOnce }, worker)).finally(() => {
    busy = false
  })
  const [took] = await Promise.all([probes(), signIns])
  return took
}

/**
 * Writes as much as is about to be stored and deletes it again, so that memory and disk blocks have been touched
 * before: on virtual machines the first touch costs more than everything that is to be compared.
 */
export const touchRoom = async (folder: string, bytes: number): Promise<void> => {
  const path = join(folder, 'room')
  await makeDurableFile(path, bytes)
  await rm(path)
}

const datasync = async (path: string): Promise<void> => {
  const file = await open(path, 'r')
  await file.datasync()
  await file.close()
}

/** A file as {@link makeFile} makes it, which the system has nothing to write of any more. */
export const makeDurableFile = async (path: string, bytes: number): Promise<string> => {
  const digest = await makeFile(path, bytes)
  await datasync(path)
  return digest
}

/** Writes a file of pseudo-random bytes and returns its digest. */
export const makeFile = async (path: string, bytes: number): Promise<string> => {
  const hash = createHash('sha256')
  const out = createWriteStream(path)
  const block = randomBytes(1 << 20)
  for (let left = bytes; left > 0; left -= block.byteLength) {
    block.writeDoubleLE(left, 0)
    const piece = Buffer.from(block.subarray(0, Math.min(left, block.byteLength)))
    hash.update(piece)
    if (!out.write(piece)) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
  return hash.digest('hex')
}
