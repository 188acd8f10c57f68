import type { Socket } from 'node:net'
import { connectionIdleMs, takingLooks } from '../../kernel/limits/http.ts'
import type { Timers } from '../../kernel/timers.ts'

/**
 * What is left of the piece that the kernel is taking, as Node itself looks at it; no public name tells of parts of a
 * piece.
 */
const leftOfPiece = (socket: Socket): unknown => {
  const handle: unknown = Reflect.get(socket, '_handle')
  return typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'writeQueueSize') : null
}

/**
 * Ends a connection whose client takes nothing of what there is for it, be it a file, a text or a refusal, for
 * `connectionIdleMs`. What the client sends meanwhile changes nothing; as long as nothing waits to be taken, it is us
 * who are waited for. Answers how to stop.
 */
export const watchTaking = (socket: Socket, timers: Timers): (() => void) => {
  let looked: { readonly taken: number; readonly left: unknown } | null = null
  let looksWithoutChange = 0
  let cancel: () => void
  const look = (): void => {
    const now =
      socket.writableLength === 0
        ? null
        : { taken: socket.bytesWritten - socket.writableLength, left: leftOfPiece(socket) }
    const changed = now === null || now.taken !== looked?.taken || now.left !== looked.left
    looksWithoutChange = changed ? 0 : looksWithoutChange + 1
    looked = now
    if (looksWithoutChange === takingLooks) socket.destroy()
    else cancel = next()
  }
  const next = (): (() => void) => timers.after(connectionIdleMs / takingLooks, look)
  cancel = next()
  return () => cancel()
}
