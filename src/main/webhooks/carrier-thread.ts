import { isMainThread, type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type Carried, createCarrier, type Load } from '../../features/operating/webhooks/carrying.ts'
import { type DoorData, openDoorBy } from '../door.ts'
import { secretsOf } from './secrets.ts'
import { beNice, createStandingBack } from './standing-back.ts'

export interface CarrierThreadData {
  readonly door: DoorData
}

/** What the thread is asked. `aheadMs`: how far the clock of the service is ahead of the system's. */
export type CarrierTask =
  | {
      readonly kind: 'carry'
      readonly number: number
      readonly way: Omit<Load, 'events'>
      /** As JSON. */
      readonly events: string
      readonly taken: Int32Array
      readonly aheadMs: number
    }
  | { readonly kind: 'leave'; readonly id: string }

/** What became of a load, or why nobody knows. */
export type CarrierNews =
  | { readonly number: number; readonly carried: Carried }
  | { readonly number: number; readonly carried: null; readonly why: string }

const serve = ({ door }: CarrierThreadData, port: MessagePort): void => {
  let aheadMs = 0
  const clock = { now: () => Date.now() + aheadMs }
  const carrier = createCarrier({ door: openDoorBy(door), clock, secretsOf, standBackMs: createStandingBack() })
  const tell = (news: CarrierNews): void => port.postMessage(news)
  port.on('message', (task: CarrierTask) => {
    if (task.kind === 'leave') return carrier.leave(task.id)
    const { number, way, taken } = task
    aheadMs = task.aheadMs
    carrier.carry({ ...way, events: JSON.parse(task.events) }, taken).then(
      (carried) => tell({ number, carried }),
      (error: unknown) => tell({ number, carried: null, why: String(error) }),
    )
  })
}

// The program of a thread: elsewhere, importing it does nothing.
if (!isMainThread && parentPort !== null) {
  beNice()
  serve(workerData, parentPort)
}
