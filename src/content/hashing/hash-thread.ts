import { isMainThread, type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { createFastTable, createSaveableTable, type HashTable } from './hash-table.ts'
import { RingReader, type RingRecord } from './ring.ts'

/** What a record in the ring asks for. */
export const operations = { begin: 1, fork: 2, update: 3, digest: 4, save: 5, drop: 6 } as const

export interface HashThreadData {
  readonly ring: SharedArrayBuffer
  readonly saveable: boolean
}

/** What the thread says: that there is room in the ring again, or the answer to a question by its number. */
export type HashThreadNews = 'room' | { readonly question: number; readonly answer: string }

type Tell = (news: HashThreadNews) => void

const performers = (table: HashTable, tell: Tell): ReadonlyMap<number, (record: RingRecord) => void> =>
  new Map([
    [operations.begin, ({ subject, bytes }) => table.begin(subject, Buffer.concat(bytes).toString())],
    [operations.fork, ({ subject, other }) => table.fork(subject, other)],
    [
      operations.update,
      ({ subject, other, bytes }) => {
        for (const piece of bytes) {
          table.update(subject, piece)
          if (other !== 0) table.update(other, piece)
        }
      },
    ],
    [operations.digest, ({ subject, other }) => tell({ question: other, answer: table.digest(subject) })],
    [operations.save, ({ subject, other }) => tell({ question: other, answer: table.save(subject) })],
    [operations.drop, ({ subject }) => table.drop(subject)],
  ])

/** Works off the ring for ever. */
const serve = async ({ ring, saveable }: HashThreadData, port: MessagePort): Promise<never> => {
  const tell: Tell = (news) => port.postMessage(news)
  const table = saveable ? await createSaveableTable() : createFastTable()
  const reader = new RingReader(ring, () => tell('room'))
  const perform = performers(table, tell)
  for (;;)
    reader.take((record) => {
      const performer = perform.get(record.operation)
      if (performer === undefined) throw new Error(`no operation ${record.operation}`)
      performer(record)
    })
}

// The program of a thread: elsewhere, importing it does nothing.
if (!isMainThread && parentPort !== null) await serve(workerData, parentPort)
