import pino, { type DestinationStream, type Logger } from 'pino'
import { withoutCredentials } from '../kernel/credentials.ts'
import { logWaitingBytesMax, logWriteBytesMax } from '../kernel/limits/process.ts'
import type { Settings } from './settings/rules.ts'

const standardError = 2

/** Lines lost of each log whose reader was too slow. */
const lost = new WeakMap<Logger, { lines: number }>()

/** How many lines were thrown away since nobody took those before them. */
export const linesLost = (log: Logger): number => lost.get(log)?.lines ?? 0

/**
 * One JSON line an event, whose level is a word. Secrets never get here: of requests no header, no query and no body is
 * logged, and of a credential that somebody put into a path only its kind.
 */
export const logTo = (destination: DestinationStream, level: Settings['logLevel']): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: withoutCredentials },
    },
    destination,
  )

/**
 * The log of this process, on standard error: as JSON, or in a form for people where a terminal shows it. Lines are
 * written beside what else goes on, a few at once when many come, and what is left when the process ends, so that the
 * last line is seen. A reader who takes nothing holds up nobody: beyond a bound lines are lost, and counted.
 */
export const openLog = async (level: Settings['logLevel']): Promise<Logger> => {
  const lines = pino.destination({
    dest: standardError,
    sync: false,
    maxLength: logWaitingBytesMax,
    maxWrite: logWriteBytesMax,
  })
  const log = logTo(process.stderr.isTTY ? await atTerminal(lines) : lines, level)
  const count = { lines: 0 }
  lines.on('drop', () => {
    count.lines += 1
  })
  lost.set(log, count)
  return log
}

/** Only loaded where somebody looks. */
const atTerminal = async (lines: DestinationStream): Promise<DestinationStream> =>
  (await import('./log-for-people.ts')).forPeople(lines, process.stderr.hasColors())

export type { Logger }
