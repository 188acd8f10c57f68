import type { Queries } from '../database/database.ts'
import { timestamp, utcMs } from '../kernel/clock.ts'
import { invalid } from '../kernel/failure.ts'
import { callersNamed } from './names.queries.ts'

/** Whose lines of a journal are wanted, and of which time; what is null is not asked for. */
export interface LinesInTime {
  /** What journals call them: any of these. */
  readonly actors: readonly string[] | null
  readonly from: string | null
  readonly to: string | null
}

/** What a request asks for: somebody by their name or by what journals call them. 400 for times that are none. */
export const linesInTime = async (
  q: Queries,
  {
    actor,
    from,
    to,
  }: {
    readonly actor: string | undefined
    readonly from: string | undefined
    readonly to: string | undefined
  },
): Promise<LinesInTime> => ({
  actors: actor === undefined ? null : await actorsMeant(q, actor),
  from: momentIn('/query/from', from),
  to: momentIn('/query/to', to),
})

const actorsMeant = async (q: Queries, given: string): Promise<string[]> => [
  given,
  ...(given.includes(':') ? [] : [`key:${given}`, ...(await callersNamed(q, given))]),
]

const momentIn = (pointer: string, text: string | undefined): string | null => {
  if (text === undefined) return null
  const ms = utcMs(text)
  if (ms === null) throw invalid(pointer, 'must be a day and time that exist')
  return timestamp(ms)
}
