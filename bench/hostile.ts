import { join } from 'node:path'
import { makeDiskFaults } from '../test/harness/disk-faults.ts'
import { openSessions } from './hostile/accounts.ts'
import { watchRest } from './hostile/at-rest.ts'
import { type Measured, measure } from './hostile/measuring.ts'
import type { Neighbour } from './hostile/neighbour-process.ts'
import { neighbours, type Place } from './hostile/neighbours.ts'
import { type Beside, resultMeaning, resultTables } from './hostile/result.ts'
import { makeFile, uploadSeconds } from './load.ts'
import { cpuSeconds, forgetPeak, freePort, openFilesMax, peakMiB } from './processes.ts'
import { startProfiling } from './profile.ts'
import { type Bench, startSvc } from './servers.ts'
import type { Setting } from './setting.ts'
import type { Row } from './table.ts'

/*
 * What can others do to a small request? One account reads and publishes small files, first alone, then beside
 * neighbours who mean no good, one kind after another and all at once, and alone again, which shows what of the growth
 * is the machine's. Times are printed and never judged. What is judged is state: every request of the account is
 * answered with success, and once the neighbours are gone nothing of them is left.
 */
const smallBytes = 4_096
/** Beside the connections of the crowd: other neighbours, and the files of the service. */
const otherFiles = 2_000
const folder = '/api/v1/repositories/releases/raw/hostile'

/** As operators start it: with the bounds that are there unless they say otherwise. */
const settings = {
  SVC_REQUESTS_PER_SECOND: '20000',
  SVC_DOWNLOAD_WAIT_SECONDS: '30',
  // What cancelled uploads held is removed at once, and does not fill the disk of whoever measures.
  SVC_CLEANUP_GRACE_HOURS: '0',
}

export const hostile = async ({ sizes, scratch, profiles }: Setting): Promise<Row[]> => {
  const connections = Math.min(
    sizes.hostileConnections,
    openFilesMax(sizes.hostileConnections + otherFiles) - otherFiles,
  )
  if (connections < sizes.hostileConnections)
    console.log(`this machine allows ${connections} hostile connections instead of ${sizes.hostileConnections}`)
  const disk = makeDiskFaults()
  try {
    const inspector = profiles === null ? null : await freePort()
    const flags = inspector === null ? [] : [`--inspect=127.0.0.1:${inspector}`]
    const svc = await startSvc(flags, { ...settings, ...disk.environment })
    const place = await prepare(svc, scratch, sizes.bigBytes, { connections, disk })
    const profiling = inspector === null || profiles === null ? null : await startProfiling(inspector, profiles)
    await compare(svc, place, sizes.getSeconds, async (name, work) => {
      if (profiling === null) return await work()
      const { result, most } = await profiling.during(name, work)
      console.log(`    most of the time of the event loop:\n${most}`)
      return result
    })
    profiling?.close()
  } finally {
    disk.close()
  }
  return []
}

/** Stores what is read, and makes the accounts. */
const prepare = async (
  svc: Bench,
  scratch: string,
  largeBytes: number,
  given: Pick<Place, 'connections' | 'disk'>,
): Promise<Place> => {
  const store = async (name: string, bytes: number): Promise<string> => {
    const path = join(scratch, `hostile-${name}`)
    await uploadSeconds(svc, [{ name: `hostile/${name}`, sha256: await makeFile(path, bytes), path }])
    return `${folder}/${name}`
  }
  const base = new URL(svc.download('any', '').url).origin
  return {
    base,
    pid: svc.process.pid ?? Number.NaN,
    administrator: svc.recoveryKey ?? '',
    sessions: await openSessions(base, svc.recoveryKey ?? ''),
    small: await store('small', smallBytes),
    large: await store('large', largeBytes),
    folder,
    ...given,
  }
}

const compare = async (
  svc: Bench,
  place: Place,
  seconds: number,
  watched: <T>(name: string, work: () => Promise<T>) => Promise<T>,
): Promise<void> => {
  const { pid } = place
  const { headers } = svc.download('any', '')
  const credential = (headers['authorization'] ?? '').replace('Bearer ', '')
  const setting: Measured = { ...place, credential, seconds }
  // Code that ran little is slow: it must not look as if neighbours made it quicker.
  await measure({ ...setting, seconds: 2 }, 'warm')
  const cameToRest = await watchRest(pid, place.base, svc.recoveryKey ?? '')
  const all: Beside[] = []
  const wrong: string[] = []
  const beside = async (name: string, start: () => Promise<Neighbour | null>): Promise<void> => {
    forgetPeak(pid)
    const neighbour = await start()
    const before = { ours: cpuSeconds(pid), theirs: neighbour?.cpuSeconds() ?? 0, atMs: performance.now() }
    const met = await watched(name, () => measure(setting, name.replaceAll(' ', '-')))
    const tookSeconds = (performance.now() - before.atMs) / 1000
    all.push({
      ...met,
      neighbour: name,
      cores: (cpuSeconds(pid) - before.ours) / tookSeconds,
      theirCores: ((neighbour?.cpuSeconds() ?? 0) - before.theirs) / tookSeconds,
      peakMiB: peakMiB(pid),
    })
    console.log(`  ${name}, ${tookSeconds.toFixed(0)} s${neighbour === null ? '' : `:\n    ${await neighbour.end()}`}`)
    for (const [why, times] of met.refused) wrong.push(`beside ${name} ${times} requests were refused: ${why}`)
    const left = await cameToRest()
    if (left !== null) wrong.push(`after ${name} there is left: ${left}`)
  }
  await beside('nobody', async () => null)
  for (const [name, start] of Object.entries(neighbours)) await beside(name, () => start(place))
  await beside('nobody again', async () => null)
  console.log(`\n${resultTables(all)}\n\n${resultMeaning}\n`)
  if (wrong.length === 0) {
    console.log('Every request was answered with success, and nothing of the neighbours is left.')
    return
  }
  console.error(wrong.join('\n'))
  process.exitCode = 1
}
