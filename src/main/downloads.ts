import { type Admission, createAdmission } from '../content/admission/admission.ts'
import { createDownloadMeter, type DownloadMeter } from '../content/admission/meter.ts'
import { ticketSecret } from '../content/admission/shared-slots.queries.ts'
import { type SharedSlots, shareSlots } from '../content/admission/shared-slots.ts'
import { createTickets } from '../content/admission/tickets.ts'
import type { Measure } from '../http/metrics/measures.ts'
import { downloadClasses } from '../kernel/download-class.ts'
import { realTimers } from '../kernel/timers.ts'
import type { Engines } from './engines.ts'

/** The queue of downloads before the one door out. */
export interface Downloads {
  readonly admission: Admission
  readonly meter: DownloadMeter
  /** Null where each gateway has slots of its own. */
  readonly shared: SharedSlots | null
}

/** A reader whose database cannot be written to (a replica) takes no part in shared slots: it has slots of its own. */
export const openDownloads = async (
  { settings, database, clock, log, report }: Engines,
  role: 'api' | 'reader',
): Promise<Downloads> => {
  const meter = createDownloadMeter()
  meter.tooSlow = (bytesPerSecond) =>
    log.info(
      { bytesPerSecond },
      'a download was cut: its client took too little while others waited; it may ask for the rest',
    )
  const admission = createAdmission({
    clock,
    timers: realTimers,
    tickets: createTickets(await ticketSecret(database.reader), clock),
    meter,
    slots: Math.max(1, Math.floor(settings.downloadSlots / settings.processes)),
    waitMs: settings.downloadWaitMs,
  })
  const total = settings.sharedDownloadSlots
  if (total === null) return { admission, meter, shared: null }
  try {
    const shared = await shareSlots({ database, clock, timers: realTimers, admission, report }, total)
    return { admission, meter, shared }
  } catch (error) {
    if (role === 'api') throw error
    report(`no lease on shared download slots; this reader has ${settings.downloadSlots} of its own`, error)
    return { admission, meter, shared: null }
  }
}

/** What the queue did, as metrics. Classes have names of their own, since labels say nothing of who asks. */
export const downloadMeasures = ({ admission, meter }: Downloads): Measure[] => {
  const gauge = (name: string, help: string, read: () => number): Measure => ({ name, help, kind: 'gauge', read })
  const counter = (name: string, help: string, read: () => number): Measure => ({ name, help, kind: 'counter', read })
  return [
    gauge('svc_download_slots', 'Downloads that this gateway may send at once.', () => admission.state.slots),
    gauge('svc_download_slots_held', 'Of these, taken.', () => admission.state.held),
    gauge('svc_downloads_waiting', 'Downloads that wait for a slot.', () => admission.state.waiting),
    counter('svc_downloads_admitted_total', 'Downloads that were given a slot.', () => meter.admitted),
    counter('svc_downloads_queued_total', 'Answers that told a download to wait.', () => meter.queued),
    counter('svc_downloads_yielded_total', 'Slots given back because others waited.', () => meter.yielded),
    counter(
      'svc_downloads_cut_total',
      'Slots taken from clients that took too little while others waited.',
      () => meter.cut,
    ),
    counter('svc_downloads_refused_total', 'Downloads that found no slot in time.', () => meter.refused),
    ...downloadClasses.map((name) =>
      counter(
        `svc_download_bytes_${name}_total`,
        `Bytes sent to downloads of the class ${name}.`,
        () => meter.bytes[name],
      ),
    ),
  ]
}
