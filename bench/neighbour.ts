import { parseArgs } from 'node:util'
import { beCrowd } from './hostile/crowd.ts'
import { openUploads, signInWrongly } from './hostile/floods.ts'
import type { Busy, Kind, Orders } from './hostile/orders.ts'
import { sendParts } from './hostile/part-senders.ts'
import { readSlowly, sendSlowly } from './hostile/slow-transfers.ts'

/* One neighbour of the scenario `hostile`, in a process of its own, which ends with the process that started it. */

const kinds: Readonly<Record<Kind, (orders: Orders) => Busy>> = {
  crowd: beCrowd,
  readers: readSlowly,
  senders: sendSlowly,
  parts: sendParts,
  'sign-ins': signInWrongly,
  uploads: openUploads,
}

const isKind = (text: string): text is Kind => text in kinds

const ordersOf = (args: readonly string[]): Orders => {
  const several = { type: 'string', multiple: true, default: [] as string[] } as const
  const one = { type: 'string', default: '0' } as const
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { port: one, count: one, from: several, path: several, credential: several },
  })
  const [kind = ''] = positionals
  if (!isKind(kind)) throw new Error(`a neighbour is one of: ${Object.keys(kinds).join(', ')}`)
  const { from, path: paths, credential: credentials } = values
  return { kind, port: Number(values.port), count: Number(values.count), from, paths, credentials }
}

const orders = ordersOf(process.argv.slice(2))
const busy = kinds[orders.kind](orders)
process.on('message', () => process.send?.({ ended: busy.end() }, () => process.exit()))
process.on('disconnect', () => process.exit())
await busy.standing
process.send?.({ standing: true })
