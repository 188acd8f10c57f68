import { Agent, request } from 'node:http'
import { type Busy, inTurn, type Orders } from './orders.ts'

/** Signs in under names and with passwords that nobody has, on each connection as fast as it is answered. */
export const signInWrongly = ({ port, from, count }: Orders): Busy => {
  const localAddress = inTurn(from, 0)
  const agent = new Agent({ keepAlive: true, maxSockets: count })
  const answers = new Map<string, number>()
  const { promise: standing, resolve } = Promise.withResolvers<void>()
  let tries = 0
  let ended = false
  const note = (what: string): void => {
    answers.set(what, (answers.get(what) ?? 0) + 1)
  }
  const once = (): Promise<void> =>
    new Promise((done) => {
      tries += 1
      const body = JSON.stringify({ name: `nobody-${tries}`, password: `wrong password number ${tries}` })
      const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
      const options = { host: '127.0.0.1', port, localAddress, agent, method: 'POST', path: '/api/v1/auth/login' }
      const asked = request({ ...options, headers }, (answer) => {
        note(String(answer.statusCode))
        answer.resume().on('close', done)
      })
      asked.on('error', (error) => {
        if (!ended) note(error.message)
        done()
      })
      asked.end(body)
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
      const told = [...answers].map(([what, times]) => `${times} times ${what}`)
      return `${tries} wrong sign-ins on ${count} connections: ${told.join(', ')}`
    },
  }
}
