import { holdConnections } from './held-connections.ts'
import { type Busy, cycled, type Orders } from './orders.ts'

/** What a slow reader takes in a second. */
const takenBytes = 4_096
/** What a slow sender says that it will send: a byte a second, for days. */
const declaredBytes = 1_000_000

/** Downloads of a large file that take some KiB a second. */
export const readSlowly = (orders: Orders): Busy => {
  const authorization = `Authorization: Bearer ${cycled(orders.credentials, 0)}`
  const says = `GET ${cycled(orders.paths, 0)} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization}\r\n\r\n`
  const held = holdConnections(orders, () => ({ says, again: (socket) => socket.resume(), takes: takenBytes }))
  return {
    standing: held.standing,
    end() {
      held.close()
      return `${orders.count} slow readers, who began ${held.connected()} times${held.failures()}`
    },
  }
}

/** Uploads by path that send a byte a second. */
export const sendSlowly = (orders: Orders): Busy => {
  const head = (index: number): string =>
    [
      `PUT ${cycled(orders.paths, index)}/${index} HTTP/1.1`,
      'Host: 127.0.0.1',
      `Authorization: Bearer ${cycled(orders.credentials, index)}`,
      `Content-Length: ${declaredBytes}\r\n\r\n`,
    ].join('\r\n')
  const held = holdConnections(orders, (index) => ({
    says: head(index),
    again: (socket) => socket.write('a'),
    takes: 'all',
  }))
  return {
    standing: held.standing,
    end() {
      held.close()
      return `${orders.count} slow senders, who began ${held.connected()} times${held.failures()}`
    },
  }
}
