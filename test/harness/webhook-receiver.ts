import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'

/** An event as a receiver gets it, after it has checked the signature. */
export interface Received {
  readonly id: string
  readonly repository: string
  readonly sequence: string
  readonly action: string
  readonly artifactId: string
  readonly detail: string | null
}

export interface Receiver extends AsyncDisposable {
  readonly url: string
  /** Every event that was taken, in the order in which it was, repeats as well. */
  readonly taken: readonly Received[]
  /** Requests that came, whatever became of them. */
  readonly asked: number
  /** What was wrong with requests: with their signature, their headers or their bodies. */
  readonly faults: readonly string[]
  /** What happens to a request instead of a 204; null for that. The event is not taken then, unless `takes` says so. */
  answer: ((response: ServerResponse, request: IncomingMessage) => void) | null
  takes: boolean
  /** Answers 401 to what it cannot check, instead of taking it and noting the fault. */
  refusesUnsigned: boolean
  /** How often it did. */
  readonly unsigned: number
  /** The secret that it knows. */
  secret: string
  /** False where the clock of the service is turned. */
  checksTime: boolean
}

const secondsApart = 300

/** A receiver that does what the guide says: raw body, five minutes, constant time, either value of two. */
export const startReceiver = async (secret: string): Promise<Receiver> => {
  const taken: Received[] = []
  const faults: string[] = []
  let asked = 0
  let unsigned = 0
  const receiver = {
    answer: null as Receiver['answer'],
    takes: false,
    refusesUnsigned: false,
    secret,
    checksTime: true,
  }
  const isSigned = (timestamp: string, body: Buffer, given: string): boolean => {
    const own = createHmac('sha256', receiver.secret).update(`${timestamp}.`).update(body).digest()
    return given.split(',').some((each) => {
      const value = Buffer.from(each.replace(/^sha256=/, ''), 'hex')
      return each.startsWith('sha256=') && value.length === own.length && timingSafeEqual(value, own)
    })
  }
  /** Whether it may be taken. */
  const isChecked = (request: IncomingMessage, body: Buffer): boolean => {
    const header = (name: string): string => String(request.headers[name])
    const timestamp = header('x-svc-timestamp')
    if (receiver.checksTime && Math.abs(Number(timestamp) - Date.now() / 1000) > secondsApart)
      faults.push(`timestamp ${timestamp}`)
    if (!isSigned(timestamp, body, header('x-svc-signature'))) {
      if (receiver.refusesUnsigned) {
        unsigned += 1
        return false
      }
      faults.push(`signature of ${body.toString()}`)
    }
    const event: Received = JSON.parse(body.toString())
    const { id, repository, sequence, action, ...rest } = event
    if (id !== `${repository}:${sequence}` || header('x-svc-delivery') !== id || header('x-svc-event') !== action)
      faults.push(`headers of ${body.toString()}`)
    if (Object.keys(rest).join() !== 'artifactId,detail') faults.push(`fields of ${body.toString()}`)
    if (receiver.answer === null || receiver.takes) taken.push(event)
    return true
  }
  const server = createServer((request, response) => {
    asked += 1
    response.on('error', () => undefined)
    buffer(request).then(
      (body) => {
        if (!isChecked(request, body)) response.writeHead(401).end()
        else if (receiver.answer === null) response.writeHead(204).end()
        else receiver.answer(response, request)
      },
      () => undefined,
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return Object.defineProperties(receiver, {
    url: { value: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/hook` },
    taken: { value: taken },
    faults: { value: faults },
    asked: { get: () => asked },
    unsigned: { get: () => unsigned },
    [Symbol.asyncDispose]: {
      value: async () => {
        server.closeAllConnections()
        server.close()
        await once(server, 'close')
      },
    },
  }) as Receiver
}

/** Sequences in the order in which each came for the first time. */
export const firstTimes = (taken: readonly Received[]): number[] => [
  ...new Set(taken.map(({ sequence }) => Number(sequence))),
]

type Answer = NonNullable<Receiver['answer']>

/** What receivers do to events that they do not take. */
export const refusals: readonly Answer[] = [
  (response) => void response.writeHead(500).end(),
  (response) => void response.writeHead(410).end('no more'),
  (response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
  (response) => void response.destroy(),
  (response) => void response.socket?.resetAndDestroy(),
  (response) => void response.socket?.end('what is this?\r\n\r\n'),
]

/** What they do when they take them: answer late, and answer without end. */
export const oddities: readonly Answer[] = [
  (response) => void setTimeout(() => response.writeHead(202).end(), 20),
  (response) => {
    response.writeHead(200)
    const more = setInterval(() => response.write('more and more'.repeat(100)), 1)
    response.on('close', () => clearInterval(more))
  },
]

/** Never answers. */
export const hang: Answer = () => undefined
