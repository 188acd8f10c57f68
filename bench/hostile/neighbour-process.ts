import { join } from 'node:path'
import { cpuSeconds, startTalking } from '../processes.ts'
import type { Orders } from './orders.ts'

const program = join(import.meta.dirname, '..', 'neighbour.ts')

/** A neighbour that stands where it is to stand. */
export interface Neighbour {
  cpuSeconds(): number
  /** Sends it away; what it did, in words. */
  end(): Promise<string>
}

/** Resolves when all that the neighbour is to do is under way. */
export const startNeighbour = async ({ kind, port, count, ...lists }: Orders): Promise<Neighbour> => {
  const several = (name: string, values: readonly string[]): string[] => values.flatMap((value) => [`--${name}`, value])
  const child = startTalking(program, [
    ...[kind, '--port', String(port), '--count', String(count)],
    ...several('from', lists.from),
    ...several('path', lists.paths),
    ...several('credential', lists.credentials),
  ])
  /** The next message that has this field. */
  const told = (field: string): Promise<string> =>
    new Promise((resolve, reject) => {
      child.on('message', (message) => {
        if (typeof message === 'object' && message !== null && field in message)
          resolve(String(Object.values(message)[0]))
      })
      child.once('exit', (code) => reject(new Error(`the neighbour ${kind} ended with ${code} before it was ${field}`)))
    })
  await told('standing')
  return {
    cpuSeconds: () => cpuSeconds(child.pid ?? Number.NaN),
    async end() {
      const ended = told('ended')
      child.send('end')
      return await ended
    },
  }
}
