import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { lingerBytesMax, lingerIdleMs, lingeringMax, lingerMs } from '../kernel/connection-limits.ts'

/**
 * Reads and drops what nobody wants: the rest of a body that was refused, or what follows after something that is no HTTP.
 *
 * A connection that is closed while data comes is reset, and the reset takes the answer with it that the client has not read
 * yet; many clients read nothing before they have sent everything. So our side of the connection is closed, and theirs is read
 * to its end. It goes on for a bounded time, a bounded number of bytes, and on a bounded number of connections: beyond it, the
 * one that has been at it for longest is cut.
 */
export class Lingering {
  readonly #connections = new Set<() => void>()
  #whenNone: (() => void) | null = null

  get size(): number {
    return this.#connections.size
  }

  /** Calls when no connection lingers any more. */
  onNone(listener: () => void): void {
    this.#whenNone = listener
  }

  /** Closes our side once the answer is out; the connection ends with the client's. `request` is the one whose body comes. */
  close(socket: Socket, request: IncomingMessage | null): void {
    const { cut } = this.#drop(socket, request ?? socket)
    socket.once('end', cut)
    socket.end()
  }

  /** The connection goes on when the body of the request, which was answered, is through. */
  passOver(socket: Socket, request: IncomingMessage): void {
    const { over } = this.#drop(socket, request)
    request.once('end', over)
  }

  #drop(socket: Socket, source: IncomingMessage | Socket): { cut: () => void; over: () => void } {
    let left = lingerBytesMax
    const cut = (): void => {
      socket.destroy()
    }
    const whole = setTimeout(cut, lingerMs)
    let idle = setTimeout(cut, lingerIdleMs)
    const dropped = (piece: Uint8Array): void => {
      clearTimeout(idle)
      left -= piece.byteLength
      if (left < 0) cut()
      else idle = setTimeout(cut, lingerIdleMs)
    }
    const over = (): void => {
      clearTimeout(whole)
      clearTimeout(idle)
      source.off('data', dropped)
      socket.off('close', over)
      if (this.#connections.delete(cut) && this.#connections.size === 0) this.#whenNone?.()
    }
    source.on('data', dropped)
    socket.once('close', over)
    this.#connections.add(cut)
    for (const longest of this.#connections) {
      if (this.#connections.size <= lingeringMax) break
      this.#connections.delete(longest)
      longest()
    }
    return { cut, over }
  }
}
