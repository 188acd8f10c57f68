import { Client, type Dispatcher } from 'undici'
import { outboundHeadBytesMax, outboundKeptMs } from '../../../kernel/limits/outbound.ts'
import { Answer } from './answer.ts'
import type { Kept } from './connection.ts'

/** Sends requests one after the other, over a connection that is kept and opened anew where it has to be. */
export interface Wire {
  send(request: Dispatcher.DispatchOptions): Answer
  /** Ends what is under way. */
  destroy(): void
}

/** `open` gives the connections: the client opens none by itself. */
export const openWire = (origin: string, open: () => Promise<Kept>): Wire => {
  let current: Kept | null = null
  const client = new Client(origin, {
    pipelining: 1,
    allowH2: false,
    maxHeaderSize: outboundHeadBytesMax,
    // Whoever posts has a deadline, and what follows the head has one of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: outboundKeptMs,
    keepAliveMaxTimeout: outboundKeptMs,
    connect(_to, opened) {
      open().then(
        (kept) => {
          current = kept
          opened(null, kept.connection)
        },
        (error: Error) => opened(error, null),
      )
    },
  })
  return {
    send(request) {
      const answer = new Answer(() => current)
      client.dispatch(request, answer)
      return answer
    },
    destroy: () => void client.destroy(Object.assign(new Error('the line was closed'), { code: 'ECONNRESET' })),
  }
}
