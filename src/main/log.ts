import pino, { type DestinationStream, type Logger } from 'pino'
import type { Settings } from './settings/rules.ts'

const standardError = 2

/** One JSON line an event, whose level is a word. Secrets never get here: requests are logged by route and id alone. */
export const logTo = (destination: DestinationStream, level: Settings['logLevel']): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  )

/** The log of this process, on standard error: as JSON, or in a form for people where a terminal shows it. */
export const openLog = async (level: Settings['logLevel']): Promise<Logger> => {
  const lines = pino.destination({ dest: standardError, sync: true })
  return logTo(process.stderr.isTTY ? await forPeople(lines, process.stderr.hasColors()) : lines, level)
}

/** Only loaded where somebody looks. Written at once, so that the last line before the end is seen. */
export const forPeople = async (to: DestinationStream, colorize: boolean): Promise<DestinationStream> => {
  const { prettyFactory } = await import('pino-pretty')
  const pretty = prettyFactory({ colorize, translateTime: 'SYS:HH:MM:ss', ignore: 'requestId', singleLine: true })
  return { write: (line) => to.write(pretty(line)) }
}

export type { Logger }
