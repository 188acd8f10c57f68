import { createHash } from 'node:crypto'
import { Agent, request } from 'node:http'
import { type Busy, cycled, type Orders } from './orders.ts'

interface Asked {
  readonly path: string
  readonly credential: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly body: object
}

/**
 * Asks on each connection as fast as it is answered. `what` names what is asked for, the n-th of which is made by
 * `ask`.
 */
const flood = ({ port, from, count }: Orders, what: string, ask: (n: number) => Asked): Busy => {
  const localAddress = cycled(from, 0)
  const agent = new Agent({ keepAlive: true, maxSockets: count })
  const answers = new Map<string, number>()
  const { promise: standing, resolve } = Promise.withResolvers<void>()
  let tries = 0
  let ended = false
  const note = (answer: string): void => {
    answers.set(answer, (answers.get(answer) ?? 0) + 1)
  }
  const once = (): Promise<void> =>
    new Promise((done) => {
      tries += 1
      const { path, credential, headers: own, body } = ask(tries)
      const text = JSON.stringify(body)
      const headers = {
        ...own,
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
        ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
      }
      const options = { host: '127.0.0.1', port, localAddress, agent, method: 'POST', path, headers }
      const asked = request(options, (answer) => {
        note(String(answer.statusCode))
        answer.resume().on('close', done)
      })
      asked.on('error', (error) => {
        if (!ended) note(error.message)
        done()
      })
      asked.end(text)
    })
  const always = async (): Promise<void> => {
    while (!ended) {
      await once()
      resolve()
    }
  }
  void Promise.all(Array.from({ length: count }, always))
  return {
    standing,
    end() {
      ended = true
      agent.destroy()
      const told = [...answers].map(([answer, times]) => `${times} times ${answer}`)
      return `${tries} ${what} on ${count} connections: ${told.join(', ')}`
    },
  }
}

/** Signs in under names and with passwords that nobody has. */
export const signInWrongly = (orders: Orders): Busy =>
  flood(orders, 'wrong sign-ins', (n) => ({
    path: '/api/v1/auth/login',
    credential: null,
    headers: {},
    body: { name: `nobody-${n}`, password: `wrong password number ${n}` },
  }))

/** Opens upload sessions and sends nothing to them. */
export const openUploads = (orders: Orders): Busy =>
  flood(orders, 'upload sessions', (n) => ({
    path: cycled(orders.paths, 0),
    credential: cycled(orders.credentials, 0),
    headers: { 'idempotency-key': `flood-${process.pid}-${n}` },
    body: { name: `flood-${n}`, size: '1000', sha256: createHash('sha256').update(String(n)).digest('hex') },
  }))
