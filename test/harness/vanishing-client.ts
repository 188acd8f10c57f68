import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextRound } from 'node:timers/promises'

/** How a client goes away: politely, in the middle of its own sending, or as one that crashed. */
const ways = {
  closes: (socket: Socket) => socket.destroy(),
  halfCloses: (socket: Socket) => socket.end(),
  resets: (socket: Socket) => socket.resetAndDestroy(),
} as const
export type WayToGo = keyof typeof ways
export const waysToGo: readonly WayToGo[] = ['closes', 'halfCloses', 'resets']

/**
 * When it goes: after a part of its own text, or after all of it and some turns of the event loop or bytes of the
 * answer.
 */
export type Moment =
  | { readonly kind: 'sent'; readonly bytes: number }
  | { readonly kind: 'turns'; readonly rounds: number }
  | { readonly kind: 'received'; readonly bytes: number }

/** Sends a request and goes away at a moment. Resolves when the connection has ended on this side. */
export const vanish = async (url: string, text: Uint8Array, way: WayToGo, moment: Moment): Promise<void> => {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: false })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.on('error', () => {})
  let received = 0
  const enough = new Promise<void>((resolve) => {
    const wanted = moment.kind === 'received' ? moment.bytes : Number.POSITIVE_INFINITY
    socket.on('data', (piece: Uint8Array) => {
      received += piece.byteLength
      if (received >= wanted) resolve()
    })
  })
  await Promise.race([once(socket, 'connect').catch(() => {}), closed])
  socket.write(moment.kind === 'sent' ? text.subarray(0, moment.bytes) : text)
  if (moment.kind === 'turns') for (let rounds = 0; rounds < moment.rounds; rounds++) await nextRound()
  // Whatever it asked for may have been shorter, or refused.
  if (moment.kind === 'received') await Promise.race([enough, closed])
  ways[way](socket)
  await closed
}
