import type { DestinationStream } from 'pino'
import { prettyFactory } from 'pino-pretty'
import { shown } from '../kernel/shown.ts'

/** What a line says of a request stands in its message here. */
const inTheMessage = ['method', 'path', 'status', 'requestId']

/** What begins a line of its own in a stack, as it is logged: a place, and the error that caused this one. */
const ownLine = /\n(?= {4}at |caused by: )/

/**
 * Any value with texts that a terminal shows and does not obey. A message is one line, since others may have sent what
 * it tells; a stack has its lines.
 */
const shownValue = (value: unknown, name = ''): unknown => {
  if (typeof value === 'string') return name === 'stack' ? value.split(ownLine).map(shown).join('\n') : shown(value)
  if (Array.isArray(value)) return value.map((each) => shownValue(each))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [shown(key), shownValue(each, key)]))
}

/** Lines of the log as people read them: the time, the level, the message, and in short what else is known. */
export const forPeople = (to: DestinationStream, colorize: boolean): DestinationStream => {
  const pretty = prettyFactory({
    colorize,
    translateTime: 'SYS:HH:MM:ss',
    ignore: inTheMessage.join(','),
    singleLine: true,
    messageFormat: ({ msg, method, path, status }) =>
      method === undefined ? `${msg}` : `${method} ${path} ${status ?? 'no answer'}`,
  })
  return { write: (line) => to.write(pretty(shownValue(JSON.parse(line)))) }
}
