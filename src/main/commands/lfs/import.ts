import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { Value } from 'typebox/value'
import { atOnce } from '../../../kernel/at-once.ts'
import { importAtOnceMax } from '../../../kernel/limits/lfs.ts'
import { BatchAnswer, lfsMediaType } from '../../../protocols/lfs/vocabulary.ts'
import { CommandFailed } from '../../client/command-failed.ts'
import { connect } from '../../client/connect.ts'
import type { Endpoint } from '../../client/service.ts'
import { tell } from '../output.ts'
import { folderSource } from './folder.ts'
import { grouped, type ImportOptions, readList, type Source, type Wanted } from './objects.ts'
import { messageIn } from './said.ts'
import { serverSource } from './server.ts'

/**
 * Takes objects over into a repository. Each is sent as a client sends it, and checked as it comes; one that is there
 * is passed over, so that a run that broke off is begun again. One that fails is told of, and the others go on.
 */
export const importLfs = async (repository: string, from: string, options: ImportOptions): Promise<void> => {
  const { endpoint } = connect()
  const source = await sourceOf(from, options)
  const { imported, there, failed } = await importFrom(source, endpoint, repository).finally(() => source.close())
  tell(
    options,
    { imported, alreadyThere: there, failed },
    ...failed.map(({ oid, why }) => `${oid}: ${why}`),
    `${imported} imported, ${there} were there already, ${failed.length} failed`,
  )
  if (failed.length > 0)
    throw new CommandFailed('failed', 'Not all of it could be imported; run it again when that is mended.')
}

interface Failed {
  readonly oid: string
  readonly why: string
}

interface Imported {
  readonly imported: number
  readonly there: number
  readonly failed: readonly Failed[]
}

const importFrom = async (source: Source, endpoint: Endpoint, repository: string): Promise<Imported> => {
  const failed: Failed[] = []
  const counts = { imported: 0, there: 0 }
  for await (const group of grouped(source.list())) {
    const { wanted, refused } = await missingOf(endpoint, repository, group)
    failed.push(...refused)
    const objects = group.filter(({ oid }) => wanted.has(oid))
    counts.there += group.length - objects.length - refused.length
    if (objects.length === 0) continue
    const fetched = await source.ready(objects)
    await atOnce(objects, importAtOnceMax, async (object) => {
      const why = await fetched(object, (bytes) => send(wanted.get(object.oid), bytes))
      if (why === null) counts.imported += 1
      else failed.push({ oid: object.oid, why })
    })
  }
  return { ...counts, failed }
}

const sourceOf = async (from: string, options: ImportOptions): Promise<Source> => {
  const { objects } = options
  const list = objects === undefined ? null : readList(() => linesOf(objects))
  if (/^https?:\/\//i.test(from)) return serverSource(from, list, options)
  const found = await stat(from).catch(() => null)
  if (found?.isDirectory() !== true) throw new CommandFailed('failed', `${from} is no folder, and no address.`)
  return folderSource(from, list)
}

const linesOf = (path: string): AsyncIterable<string> =>
  createInterface({ input: path === '-' ? process.stdin : createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })

type Target = NonNullable<NonNullable<BatchAnswer['objects'][number]['actions']>['upload']>

/** Where those go that the repository has not, and why it takes some of them not. */
const missingOf = async (
  { address, credential }: Endpoint,
  repository: string,
  objects: readonly Wanted[],
): Promise<{ wanted: Map<string, Target>; refused: Failed[] }> => {
  const answer = await fetch(`${address}/lfs/${encodeURIComponent(repository)}/objects/batch`, {
    method: 'POST',
    headers: {
      'content-type': lfsMediaType,
      ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
    },
    body: JSON.stringify({ operation: 'upload', objects }),
    redirect: 'error',
  }).catch((error: unknown) => {
    throw new CommandFailed('noService', `${address} could not be asked (${String(error)}).`)
  })
  const text = await answer.text()
  if (!answer.ok) throw new CommandFailed('failed', `${address} refuses: ${messageIn(text)}`)
  const said: unknown = JSON.parse(text)
  if (!Value.Check(BatchAnswer, said))
    throw new CommandFailed('noService', `Something answers at ${address} that is not svc.`)
  const wanted = new Map<string, Target>()
  const refused: Failed[] = []
  for (const { oid, actions, error } of said.objects) {
    if (error !== undefined) refused.push({ oid, why: error.message })
    else if (actions?.upload !== undefined) wanted.set(oid, actions.upload)
  }
  return { wanted, refused }
}

/** Null when it is stored. */
const send = async (target: Target | undefined, bytes: Readable): Promise<string | null> => {
  if (target === undefined) return 'the service does not say where it goes'
  try {
    const answer = await fetch(target.href, {
      method: 'PUT',
      headers: { ...target.header, 'content-type': 'application/octet-stream' },
      body: Readable.toWeb(bytes),
      duplex: 'half',
      redirect: 'error',
    })
    const text = await answer.text()
    return answer.ok ? null : messageIn(text)
  } catch (error) {
    return `it could not be sent (${whyOf(error)})`
  } finally {
    bytes.destroy()
  }
}

/** What broke the sending, which the client of HTTP wraps into a failure of its own. */
const whyOf = (error: unknown): string => {
  const within = error instanceof TypeError && error.cause instanceof Error ? error.cause : error
  return within instanceof Error ? within.message : String(within)
}
