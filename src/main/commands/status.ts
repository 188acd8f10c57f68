import type { Static } from 'typebox'
import { getOverview } from '../../features/operating/health/operations.ts'
import { GiB, KiB, MiB, TiB } from '../../kernel/units.ts'
import { exitCodes } from '../client/command-failed.ts'
import { connect } from '../client/connect.ts'
import { type OutputOptions, tell } from './output.ts'

type Overview = Static<(typeof getOverview.responses)[200]['schema']>

/** One screen of how the service is. Ends with {@link exitCodes.notReady} where it cannot serve requests. */
export const status = async (options: OutputOptions): Promise<void> => {
  const service = connect()
  const told = await service.call(getOverview)
  tell(options, told, ...inWords(service.endpoint.address, told))
  if (!told.ready) process.exitCode = exitCodes.notReady
}

const units = [
  [TiB, 'TiB'],
  [GiB, 'GiB'],
  [MiB, 'MiB'],
  [KiB, 'KiB'],
] as const

const size = (text: string | null): string => {
  if (text === null) return 'unknown'
  const bytes = Number(text)
  const [unit, name] = units.find(([least]) => bytes >= least) ?? [1, 'B']
  return `${Math.round((bytes / unit) * 10) / 10} ${name}`
}

const number = (value: number | null): string => (value === null ? 'unknown' : String(value))

/** The part that has waited longest for going well. */
const oldest = (upkeep: Overview['upkeep']): string => {
  const [first] = [...(upkeep ?? [])].sort((one, other) => one.succeededAt.localeCompare(other.succeededAt))
  if (first === undefined) return upkeep === null ? 'unknown' : 'none went well yet: does a worker run?'
  return `every part went well since ${first.succeededAt} (last: ${first.name})`
}

const inWords = (address: string, told: Overview): string[] => {
  const { space, transfers, jobs } = told
  const { uploads, downloads } = transfers
  const engines = `${told.database === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, ${told.store === 's3' ? 'an object store' : 'a directory'}`
  const processes = told.processes === 1 ? '' : `, ${told.processes} processes`
  const free =
    space.freeBytes === null ? '' : `; ${size(space.freeBytes)} free, ${size(space.reserveBytes)} must stay so`
  const rows = [
    ['service', `svc ${told.version} at ${address}, up since ${told.startedAt}${processes}`],
    ['engines', engines],
    ['ready', told.ready ? 'yes' : `NO: ${told.reason ?? ''}`],
    ['writable', told.writable ? 'yes' : told.role === 'reader' ? 'no, it is a reader' : 'NO: see the space'],
    [
      'space',
      `${size(space.publishedBytes)} published, ${size(space.reservedBytes)} of ${size(space.capacityBytes)} reserved${free}`,
    ],
    ['uploads', `${uploads.admission.active} under way, ${number(told.openUploadSessions)} sessions open`],
    [
      'downloads',
      `${downloads.admission.active} under way, ${downloads.admission.held} of ${downloads.admission.slots} slots taken, ${downloads.admission.waiting} wait`,
    ],
    ['jobs', `${number(jobs.open)} open, ${number(jobs.failedWithinADay)} failed within a day`],
    ['upkeep', oldest(told.upkeep)],
  ] as const
  return rows.map(([name, text]) => `${name.padEnd(10)} ${text}`)
}
