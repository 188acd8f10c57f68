import type { Socket } from 'node:net'
import { holdConnections, type Manner } from './held-connections.ts'
import { type Busy, cycled, type Orders } from './orders.ts'

/** Requests that are sent at once without a look at the answers, and later ones, every so many seconds. */
const pipelinedFirst = 8
const pipelinedLater = 8
const pipelinedEverySeconds = 20

/**
 * Very many connections: a third says nothing, a third sends the head of a request byte by byte, a third sends many
 * requests at once, more later, and takes no answer.
 */
export const beCrowd = (orders: Orders): Busy => {
  const asked = `GET ${cycled(orders.paths, 0)} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${cycled(orders.credentials, 0)}\r\n\r\n`
  const seconds = new WeakMap<Socket, number>()
  const manners: readonly Manner[] = [
    { says: null, takes: 'all' },
    {
      says: 'GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ',
      again: (socket) => socket.write('a'),
      takes: 'all',
    },
    {
      says: asked.repeat(pipelinedFirst),
      again(socket) {
        const second = (seconds.get(socket) ?? 0) + 1
        seconds.set(socket, second)
        if (second % pipelinedEverySeconds === 0) socket.write(asked.repeat(pipelinedLater))
      },
      takes: 'nothing',
    },
  ]
  // Numbers change manner only after each address had one of a kind.
  const held = holdConnections(orders, (index) => cycled(manners, Math.floor(index / orders.from.length)))
  return {
    standing: held.standing,
    end() {
      held.close()
      return `${orders.count} connections of ${orders.from.length} networks, which were opened ${held.connected()} times${held.failures()}`
    },
  }
}
