import { join } from 'node:path'
import { MiB } from '../src/kernel/units.ts'
import { fillImages } from './images-fill.ts'
import { makeDurableFile, touchRoom } from './load.ts'
import { cpuSeconds, forgetPeak, makeFolder, peakMiB } from './processes.ts'
import { type Layer, manifestAddress, manifestType, pull, push, type Registry, registryOf } from './registries.ts'
import { fillPlace, measure, onEngines, printStarts, startSite } from './scale-site.ts'
import { registryNames, startRegistries, startSvc } from './servers.ts'
import { manyAtOnce, svcClient } from './svc-client.ts'
import { median, type Row, table } from './table.ts'

const rounds = 3
const layersOf = 10
const headCount = 8_000

/**
 * `npm run bench -- --images <tags>`: an image of ten layers and 1 GiB is pushed and pulled, 64 clients pull one of
 * 160 MiB at once, and a manifest is asked for by HEAD, beside docker-registry and zot where they are installed. Then
 * the lists: pages of so many tags of one image and of so many images, beside a thousand of each, which should take as
 * long.
 */
export const measureImages = async (count: number, engines: readonly string[]): Promise<void> => {
  await besidePeers()
  await onEngines(engines, async (engine, settings) => {
    for (const filled of [1_000, count]) {
      console.log(`\n${engine}, ${filled} tags of one image, and as many images`)
      const place = await settings()
      await fillPlace(place, { count: 2 * filled, each: 'tag' }, (database, store) =>
        fillImages(database, store, filled),
      )
      await printStarts(place)
      await listed(await startSite(place), filled)
    }
  })
}

const listed = async ({ client }: Awaited<ReturnType<typeof startSite>>, count: number): Promise<void> => {
  const times = 200
  const jumps = (index: number): string => String((index * 7919) % count).padStart(8, '0')
  const asked: Readonly<Record<string, (index: number) => string>> = {
    'tags, first page of 100': () => '/v2/releases/crowded/tags/list?n=100',
    'tags, a page of 100 somewhere': (index) => `/v2/releases/crowded/tags/list?n=100&last=t${jumps(index)}`,
    'a tag (manifest)': (index) => `/v2/releases/crowded/manifests/t${jumps(index)}`,
    'catalog, first page of 100': () => '/v2/_catalog?n=100',
    'catalog, a page of 100 somewhere': (index) => `/v2/_catalog?n=100&last=releases/i${jumps(index)}`,
    'images in the interface, first page': () => '/api/v1/repositories/releases/images',
    'tags in the interface, first page': () => '/api/v1/repositories/releases/images/tags?image=crowded',
  }
  for (const [what, path] of Object.entries(asked)) await measure(what, times, (index) => client.timed(path(index)))
  client.close()
}

const besidePeers = async (): Promise<void> => {
  const registries = [registryOf(await startSvc()), ...(await startRegistries()).map(registryOf)]
  const scratch = await makeFolder('layers')
  await touchRoom(scratch, 1024 * MiB)
  const figures = new Map<string, Map<string, number[]>>()
  const add = (what: string, { name }: Registry, figure: number): void => {
    const of = figures.get(what) ?? new Map<string, number[]>()
    figures.set(what, of.set(name, [...(of.get(name) ?? []), figure]))
  }
  for (let round = 0; round < rounds; round++) {
    const large = await makeLayers(scratch, `large-${round}`, Math.floor((1024 * MiB) / layersOf))
    const small = await makeLayers(scratch, `small-${round}`, 16 * MiB)
    for (const registry of round % 2 === 0 ? registries : registries.toReversed()) {
      const pid = registry.server.process.pid ?? Number.NaN
      forgetPeak(pid)
      add('push', registry, 1024 / (await push(registry, `large-${round}`, large, 5)))
      add('memory', registry, peakMiB(pid))
      add('pull', registry, 1024 / (await pull(registry, `large-${round}`, large, 1)))
      await push(registry, `small-${round}`, small, 5)
      forgetPeak(pid)
      add('pulls', registry, (64 * 160) / (await pull(registry, `small-${round}`, small, 64)))
      add('memories', registry, peakMiB(pid))
      const { perSecond, micros } = await heads(registry, `large-${round}`)
      add('heads', registry, perSecond)
      add('head', registry, micros)
    }
  }
  const row = (key: string, what: string, unit: string, better: 'more' | 'less'): Row => ({
    what,
    unit,
    better,
    meaning: '',
    figures: new Map([...(figures.get(key) ?? [])].map(([name, all]) => [name, median(all)])),
  })
  const rows = [
    row('push', 'push of 10 layers, 1 GiB, 5 at a time', 'MiB/s', 'more'),
    row('memory', '  most memory', 'MiB', 'less'),
    row('pull', 'pull of it, 3 at a time', 'MiB/s', 'more'),
    row('pulls', '64 pulls of 10 layers, 160 MiB', 'MiB/s', 'more'),
    row('memories', '  most memory', 'MiB', 'less'),
    row('heads', 'HEAD of a manifest, 32 connections', '1/s', 'more'),
    row('head', '  CPU of the server', 'µs', 'less'),
  ]
  console.log(`\nmedians of ${rounds} rounds\n${table(rows, registryNames)}`)
  for (const { server } of registries) server.process.kill('SIGTERM')
}

const makeLayers = (folder: string, name: string, bytes: number): Promise<Layer[]> =>
  Promise.all(
    Array.from({ length: layersOf }, async (_, index) => {
      const path = join(folder, `${name}-${index}`)
      return { path, bytes, sha256: await makeDurableFile(path, bytes) }
    }),
  )

/** `wrk` waits for a body that an answer to HEAD has not, so this client asks; the CPU is that of the server alone. */
const heads = async (registry: Registry, name: string): Promise<{ perSecond: number; micros: number }> => {
  const pid = registry.server.process.pid ?? Number.NaN
  const { origin, pathname } = new URL(manifestAddress(registry, name))
  const credential = (registry.headers['authorization'] ?? 'Bearer none').replace('Bearer ', '')
  const client = svcClient(origin, credential, 32)
  const cpu = cpuSeconds(pid)
  const began = performance.now()
  await manyAtOnce(headCount, 32, () => client.timed(pathname, { method: 'HEAD', accept: manifestType }))
  const seconds = (performance.now() - began) / 1000
  client.close()
  return { perSecond: headCount / seconds, micros: ((cpuSeconds(pid) - cpu) / headCount) * 1e6 }
}
