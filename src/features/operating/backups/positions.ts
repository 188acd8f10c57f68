import { timestamp } from '../../../kernel/clock.ts'
import { invalid } from '../../../kernel/failure.ts'

/** A position in a list that goes by time: newest first. */
export interface Position {
  readonly at: string
  readonly id: string
}

/** `<milliseconds>_<id>`, as clients pass it on. */
export const positionText = ({ at, id }: Position): string => `${Date.parse(at)}_${id}`

/** 400 for what is no position. */
export const positionIn = (text: string | undefined): Position | null => {
  if (text === undefined) return null
  const [ms = '', id = ''] = text.split('_')
  if (Number(ms) > 8.64e15) throw invalid('/query/after', 'must be the next of a page before')
  return { at: timestamp(Number(ms)), id }
}
