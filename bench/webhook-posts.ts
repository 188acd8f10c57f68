import { createConnection, type Socket } from 'node:net'
import { setPriority } from 'node:os'
import { webhookNiceness, webhooksMax } from '../src/kernel/limits/webhooks.ts'

/*
 * Bare posts of `npm run bench -- --webhooks`, in a process of their own as patient as the thread that delivers: as
 * many a second as it is told, over as many connections as there are subscriptions, without a journal, a cursor, a
 * signature or a client. What they cost uploads of the same machine, deliveries cost at least.
 */

const everyMs = 20
const body = JSON.stringify({ sequence: '1', filling: 'x'.repeat(150) })
const idle: { readonly socket: Socket; readonly request: string }[] = []
let perSecond = 0
let owed = 0

const sendOwed = (): void => {
  while (owed >= 1 && idle.length > 0) {
    owed -= 1
    const next = idle.shift()
    next?.socket.write(next.request)
  }
}

const connect = (port: number): void => {
  for (let n = 0; n < webhooksMax; n++) {
    const socket = createConnection(port, '127.0.0.1').setNoDelay(true)
    const head = `POST /bare-${n} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-filling: ${'x'.repeat(250)}`
    const sender = { socket, request: `${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}` }
    const rest = (): void => {
      idle.push(sender)
      sendOwed()
    }
    socket.on('connect', rest)
    socket.on('data', rest)
    socket.on('error', () => process.exit(1))
  }
}

setPriority(webhookNiceness)
connect(Number(process.argv[2]))
setInterval(() => {
  // Of what cannot be sent a second's worth is remembered, no more.
  owed = Math.min(owed + (perSecond * everyMs) / 1_000, perSecond)
  sendOwed()
}, everyMs)
process.on('message', (told) => {
  perSecond = Number(told)
  owed = 0
})
process.on('disconnect', () => process.exit())
