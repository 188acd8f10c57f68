import { hash } from 'node:crypto'
import { svcClient } from '../svc-client.ts'
import { type Busy, cycled, type Orders } from './orders.ts'

/** The smallest that there is, and how many a session has. */
export const partBytes = 8 * 1024 * 1024
export const partsPerSession = 64

/** Sends parts to each of the sessions (`paths`), one after the other, as fast as they are taken. */
export const sendParts = ({ port, paths, credentials }: Orders): Busy => {
  const client = svcClient(`http://127.0.0.1:${port}`, cycled(credentials, 0), paths.length)
  const part = Buffer.alloc(partBytes, 'a')
  const headers = {
    'content-type': 'application/octet-stream',
    'content-length': String(partBytes),
    'x-content-sha256': hash('sha256', part),
  }
  let stored = 0
  let ended = false
  let refusal = ''
  const sendAll = async (session: string): Promise<void> => {
    for (let index = 0; index < partsPerSession && !ended; index++) {
      await client.send('PUT', `${session}/parts/${index}`, part, headers)
      stored += 1
    }
  }
  for (const session of paths)
    sendAll(session).catch((error: unknown) => {
      if (!ended) refusal = `, and a failure: ${String(error)}`
    })
  return {
    standing: Promise.resolve(),
    end() {
      ended = true
      client.close()
      return `${paths.length} uploads, of which ${stored} parts were stored${refusal}`
    },
  }
}
