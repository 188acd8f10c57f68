import { storedAs } from '../platform/stored-as.ts'

/**
 * What is known of uploads beyond this page: digests that took long to compute, the session that the service opened,
 * and where the browser has it, a handle to the file. A reload goes on from here. Nothing in it is a secret.
 */
export interface UploadRecord {
  readonly id: string
  /** The account of whoever began it: nobody else goes on with it. */
  readonly person: string
  readonly repository: string
  readonly path: string
  readonly size: number
  readonly modified: number
  readonly idempotencyKey: string
  readonly sha256: string | null
  readonly parts: readonly string[]
  readonly uploadId: string | null
  readonly handle: FileSystemFileHandle | null
}

const open = (): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const asked = indexedDB.open(storedAs('svc-uploads'), 1)
    asked.onupgradeneeded = () => asked.result.createObjectStore('records', { keyPath: 'id' })
    asked.onsuccess = () => resolve(asked.result)
    asked.onerror = () => reject(asked.error)
  })

const within = async <Value>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<Value>,
): Promise<Value | null> => {
  try {
    const database = await open()
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction('records', mode)
      const asked = work(transaction.objectStore('records'))
      transaction.oncomplete = () => {
        database.close()
        resolve(asked.result)
      }
      transaction.onerror = () => reject(transaction.error)
      transaction.onabort = () => reject(transaction.error)
    })
  } catch {
    // Private windows may have no such store: what is under way goes on, and a reload begins anew.
    return null
  }
}

export const keepRecord = (record: UploadRecord): Promise<unknown> => within('readwrite', (store) => store.put(record))
export const dropRecord = (id: string): Promise<unknown> => within('readwrite', (store) => store.delete(id))
export const allRecords = async (): Promise<UploadRecord[]> =>
  (await within<UploadRecord[]>('readonly', (store) => store.getAll())) ?? []
