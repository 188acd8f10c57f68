import { createServer } from 'node:net'

/*
 * Receivers of `npm run bench -- --webhooks`, in a process of their own: they take every event and look at its order.
 * As little of HTTP as that needs, so that the machine is left to the sender. The path is the name of a subscription.
 */

interface Taken {
  last: number
  count: number
  /** Events that did not follow the one before, nor repeat what was there. */
  outOfOrder: number
}

const all = new Map<string, Taken>()

const take = (head: string, body: string): void => {
  const name = head.slice('POST /'.length, head.indexOf(' ', 'POST /'.length))
  const sequence = Number(/"sequence":"(\d+)"/.exec(body)?.[1])
  const taken = all.get(name) ?? { last: sequence - 1, count: 0, outOfOrder: 0 }
  all.set(name, taken)
  taken.count += 1
  if (sequence > taken.last + 1) taken.outOfOrder += 1
  taken.last = Math.max(taken.last, sequence)
}

const server = createServer((socket) => {
  let waiting = ''
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', (piece: Buffer) => {
    waiting += piece.toString('latin1')
    for (;;) {
      const end = waiting.indexOf('\r\n\r\n')
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(waiting)?.[1])
      const next = end + 4 + length
      if (end === -1 || waiting.length < next) return
      take(waiting, waiting.slice(end + 4, next))
      waiting = waiting.slice(next)
      socket.write('HTTP/1.1 204 No Content\r\n\r\n')
    }
  })
}).listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 })
})
process.on('message', () => process.send?.({ taken: [...all] }))
process.on('disconnect', () => process.exit())
