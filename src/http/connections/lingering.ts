import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { lingerBytesMax, lingerIdleMs, lingeringMax, lingerMs, unwantedBodyBytesMax } from '../../kernel/limits/http.ts'
import { leavesMuchUnread } from '../body/request-body.ts'
import { Shares } from './shares.ts'

/** What is read and dropped, and whose it is. */
interface Dropped {
  readonly source: IncomingMessage | Socket
  /** Of the client; null for a proxy's that does not say. */
  readonly network: string | null
  readonly bytesMax: number
}

/**
 * Reads and drops what nobody wants: the rest of a body that was refused, or what follows after something that is no
 * HTTP.
 *
 * A connection that is closed while data comes is reset, and the reset takes the answer with it that the client has not
 * read yet; many clients read nothing before they have sent everything. So our side of the connection is closed, and
 * theirs is read to its end. It goes on for a bounded time, a bounded number of bytes, and on a bounded number of
 * connections: beyond it, of the network that has most of them the one is cut that has been at it for longest. The rest
 * of a short body, after which the connection goes on, is not counted among them.
 */
export class Lingering {
  readonly #long = new Shares<() => void>()
  readonly #short = new Set<() => void>()
  #whenNone: (() => void) | null = null

  get size(): number {
    return this.#long.size + this.#short.size
  }

  /** Calls when no connection lingers any more. */
  onNone(listener: () => void): void {
    this.#whenNone = listener
  }

  /**
   * Closes our side once the answer is out; the connection ends with the client's. `request` is the one whose body
   * comes.
   */
  close(socket: Socket, network: string | null, request: IncomingMessage | null): void {
    const { cut } = this.#drop(socket, { source: request ?? socket, network, bytesMax: lingerBytesMax })
    socket.once('end', cut)
    socket.end()
  }

  /** The connection goes on when the body of the request, which was answered, is through; then `over` is called. */
  passOver(socket: Socket, network: string | null, request: IncomingMessage, over: () => void): void {
    const bytesMax = leavesMuchUnread(request) ? lingerBytesMax : unwantedBodyBytesMax
    const { end } = this.#drop(socket, { source: request, network, bytesMax })
    request.once('end', () => {
      end()
      over()
    })
  }

  #drop(socket: Socket, { source, network, bytesMax }: Dropped): { cut: () => void; end: () => void } {
    let left = bytesMax
    const isLong = bytesMax > unwantedBodyBytesMax
    const cut = (): void => {
      socket.destroy()
    }
    const whole = setTimeout(cut, lingerMs)
    const idle = setTimeout(cut, lingerIdleMs)
    const dropped = (piece: Uint8Array): void => {
      left -= piece.byteLength
      if (left < 0) cut()
      else idle.refresh()
    }
    const end = (): void => {
      clearTimeout(whole)
      clearTimeout(idle)
      source.off('data', dropped)
      socket.off('close', end)
      const known = isLong ? this.#long.delete(network, cut) : this.#short.delete(cut)
      if (known && this.size === 0) this.#whenNone?.()
    }
    source.on('data', dropped)
    socket.once('close', end)
    if (isLong) this.#long.add(network, cut)
    else this.#short.add(cut)
    this.#cutTooMany()
    return { cut, end }
  }

  #cutTooMany(): void {
    while (this.#long.size > lingeringMax) {
      const longest = this.#long.oldestOfMost
      if (longest === null) return
      this.#long.delete(longest.network, longest.thing)
      longest.thing()
    }
  }
}
