import assert from 'node:assert/strict'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { firstTimes, hang, oddities, type Receiver, refusals, startReceiver } from './webhook-receiver.ts'

/** Subscriptions of `releases` whose receivers change their moods and their secrets, and the file that names them. */
export interface MoodyReceivers extends AsyncDisposable {
  readonly settings: Readonly<Record<string, string>>
  readonly count: number
  /** Each takes, refuses, answers oddly or hangs from now on, and some go a step further in replacing their secret. */
  change(): Promise<void>
  /** All take what comes. */
  calmDown(): void
  /** Which events each has taken, each counted when it came for the first time. */
  taken(): readonly number[][]
  /** Everything was in order, but for what was signed with a secret that the receiver did not know at the time. */
  assertSound(): void
}

class Subscription {
  readonly receiver: Receiver
  readonly #folder: string
  readonly #id: string
  #generation = 0
  /** One secret; the next one signs as well; the receiver knows it; then it is the one. */
  #step: 'one' | 'both' | 'switched' = 'one'

  constructor(id: string, receiver: Receiver, folder: string) {
    this.#id = id
    this.receiver = receiver
    this.#folder = folder
  }

  static secretOf = (id: string, generation: number): string => `the secret ${generation} of ${id}, long enough`

  get item(): object {
    return {
      id: this.#id,
      repository: 'releases',
      url: this.receiver.url,
      secretFile: this.#path(this.#generation),
      ...(this.#step === 'one' ? {} : { nextSecretFile: this.#path(this.#generation + 1) }),
    }
  }

  #path(generation: number): string {
    return join(this.#folder, `${this.#id}.${generation}`)
  }

  writeSecret(generation = this.#generation): Promise<void> {
    return writeFile(this.#path(generation), `${Subscription.secretOf(this.#id, generation)}\n`)
  }

  async goOn(): Promise<void> {
    const next = this.#generation + 1
    if (this.#step === 'one') {
      await this.writeSecret(next)
      this.#step = 'both'
    } else if (this.#step === 'both') {
      this.receiver.secret = Subscription.secretOf(this.#id, next)
      this.#step = 'switched'
    } else {
      this.#generation = next
      this.#step = 'one'
    }
  }
}

export const startMoodyReceivers = async (count: number, random: () => number): Promise<MoodyReceivers> => {
  const below = (bound: number): number => Math.floor(random() * bound)
  const folder = await mkdtemp(join(tmpdir(), 'svc-moody-'))
  const all: Subscription[] = []
  for (let n = 0; n < count; n++) {
    const receiver = await startReceiver(Subscription.secretOf(`hook-${n}`, 0))
    receiver.checksTime = false
    receiver.refusesUnsigned = true
    const subscription = new Subscription(`hook-${n}`, receiver, folder)
    await subscription.writeSecret()
    all.push(subscription)
  }
  const file = join(folder, 'webhooks.json')
  /** Whole, as a careful hand does it. */
  const write = async (): Promise<void> => {
    await writeFile(`${file}.new`, JSON.stringify({ webhooks: all.map(({ item }) => item) }), { mode: 0o600 })
    await rename(`${file}.new`, file)
  }
  await write()
  const calm = (receiver: Receiver): void => void Object.assign(receiver, { answer: null, takes: false })
  return {
    settings: { SVC_WEBHOOKS_FILE: file, SVC_WEBHOOKS_ALLOW_PRIVATE: '127.0.0.1' },
    count,
    async change() {
      for (const subscription of all) {
        const { receiver } = subscription
        calm(receiver)
        const mood = below(20)
        const refusal = refusals[mood]
        const oddity = oddities[mood - refusals.length]
        if (refusal !== undefined) receiver.answer = refusal
        else if (oddity !== undefined) Object.assign(receiver, { answer: oddity, takes: true })
        else if (mood === 19) receiver.answer = hang
        if (below(2) === 0) await subscription.goOn()
      }
      await write()
    },
    calmDown: () => {
      for (const { receiver } of all) calm(receiver)
    },
    taken: () => all.map(({ receiver }) => firstTimes(receiver.taken)),
    assertSound: () => {
      for (const { receiver } of all) assert.deepEqual(receiver.faults, [])
    },
    async [Symbol.asyncDispose]() {
      for (const { receiver } of all) await receiver[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
