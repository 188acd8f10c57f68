import assert from 'node:assert/strict'
import { expectAnswer } from './expect.ts'
import { createPerson, createRepository, grant } from './people.ts'
import type { Answering } from './service.ts'
import { until } from './until.ts'

interface Span {
  begunAt: number
  endedAt: number
}

/** A file that somebody stored, and may have removed. */
interface BusyFile {
  readonly path: string
  readonly content: string
  readonly stored: Span
  removed: Span | null
}

/** People at work in a repository of their own: they store files and remove some, until they are told to go home. */
export interface BusyPeople {
  readonly credential: string
  /** Resolves when so many more files were stored. */
  more(files: number): Promise<void>
  goHome(): Promise<void>
  /**
   * What is there in the state of some moment of a span, which `read` reads: everything that was acknowledged before
   * it, nothing that began behind it, and each file whole. Answers how many there must be.
   */
  holdsOf(span: Span, read: (path: string) => Promise<{ status: number; text: string }>): Promise<number>
}

const waiting: Span = { begunAt: Number.POSITIVE_INFINITY, endedAt: Number.POSITIVE_INFINITY }

export const startBusyPeople = async (service: Answering, repository: string, workers = 3): Promise<BusyPeople> => {
  const person = await createPerson(service, `people-of-${repository}`)
  await createRepository(service, repository)
  await grant(service, person, repository, 'write')
  const files: BusyFile[] = []
  let stored = 0
  let home = false
  const pathOf = (name: string): string => `/api/v1/repositories/${repository}/raw/${name}`

  const work = async (worker: number): Promise<void> => {
    const own: BusyFile[] = []
    for (let count = 0; !home; count++) {
      const file: BusyFile = {
        path: pathOf(`${worker}/${count}`),
        content: `${worker} ${count}`,
        stored: { ...waiting },
        removed: null,
      }
      files.push(file)
      own.push(file)
      const put = { method: 'PUT', path: file.path, credential: person.token, body: file.content }
      await during(file.stored, () => expectAnswer(service, put, 201))
      stored += 1
      const old = count % 5 === 4 ? own[count - 3] : undefined
      if (old === undefined) continue
      old.removed = { ...waiting }
      const removal = { method: 'DELETE', path: old.path, credential: person.token }
      await during(old.removed, () => expectAnswer(service, removal, 200))
    }
  }
  const working = Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)))
  // Said where they are told to go home.
  working.catch(() => {})

  return {
    credential: person.token,
    async more(count) {
      const enough = stored + count
      await until('people have stored more', () => stored >= enough || home)
    },
    async goHome() {
      home = true
      await working
    },
    async holdsOf({ begunAt, endedAt }, read) {
      let sure = 0
      for (const { path, content, stored: put, removed } of files) {
        const { status, text } = await read(path)
        if (status === 200) assert.equal(text, content, path)
        else assert.equal(status, 404, path)
        if (put.endedAt < begunAt && (removed === null || removed.begunAt > endedAt)) {
          assert.equal(status, 200, `${path} was acknowledged before`)
          sure += 1
        }
        if (put.begunAt > endedAt) assert.equal(status, 404, `${path} was stored later`)
        if (removed !== null && removed.endedAt < begunAt) assert.equal(status, 404, `${path} was removed before`)
      }
      return sure
    },
  }
}

const during = async (span: Span, work: () => Promise<unknown>): Promise<void> => {
  span.begunAt = performance.now()
  await work()
  span.endedAt = performance.now()
}
