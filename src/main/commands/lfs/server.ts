import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { parseNetworks } from '../../../adapters/outbound-fetch/networks.ts'
import {
  importAnswerBytesMax,
  importAnswerMs,
  importRedirectsMax,
  lfsBodyBytesMax,
} from '../../../kernel/limits/lfs.ts'
import { type OutboundAnswer, OutboundFailure, type OutboundHttp } from '../../../ports/outbound-http.ts'
import { lfsMediaType } from '../../../protocols/lfs/vocabulary.ts'
import { CommandFailed } from '../../client/command-failed.ts'
import { openDoor } from '../../door.ts'
import { readSettings } from '../../settings/rules.ts'
import type { ImportOptions, Source, Take, Wanted } from './objects.ts'
import { messageIn, parsed } from './said.ts'

/**
 * Another server of Git LFS, which is asked as clients ask it. It may lie anywhere and say anything: all of it comes
 * through the door outwards, and what it hands out is compared with its digest where it goes to.
 */
export const serverSource = async (
  address: string,
  wanted: AsyncIterable<Wanted> | null,
  options: ImportOptions,
): Promise<Source> => {
  if (wanted === null)
    throw new CommandFailed(
      'failed',
      `A server does not tell which objects it has: say which, such as: git lfs ls-files --all --json | svc lfs import … ${address} --objects -`,
    )
  const credentials = await credentialsOf(options)
  /** An address of the same server that says nothing of credentials wants the same ones, as clients have it. */
  const credentialsFor = (href: string): Credentials =>
    URL.parse(href)?.origin === new URL(address).origin ? credentials : {}
  const door = await openDoor(
    readSettings(process.env),
    {
      allowed: networksIn(options.allowPrivate),
      authoritiesFile: options.caFile ?? null,
      plainHttp: options.plainHttp ?? false,
    },
    (why) => new CommandFailed('failed', `--ca-file: ${why}`),
  )
  return {
    list: () => wanted,
    async ready(objects) {
      const told = await askBatch(door, address, credentials, objects)
      return async ({ oid, size }, take) => {
        const found = told.get(oid)
        const download = found?.actions?.download
        if (download === undefined) return found?.error?.message.slice(0, 300) ?? 'the other server says nothing of it'
        return fetchObject(door, download, size, credentialsFor(download.href), take)
      }
    },
    async close() {
      await door[Symbol.asyncDispose]()
    },
  }
}

const networksIn = (text: string | undefined) => {
  try {
    return parseNetworks(text === undefined ? [] : text.split(',').map((each) => each.trim()))
  } catch (error) {
    throw new CommandFailed('failed', `--allow-private: ${String(error)}`)
  }
}

type Credentials = Readonly<Record<string, string>>

const credentialsOf = async ({ user = 'git', passwordFile }: ImportOptions): Promise<Credentials> => {
  if (passwordFile === undefined) return {}
  const text = await readFile(passwordFile, 'utf8').catch(() => '')
  const [password = ''] = text.split(/\r?\n/, 1)
  if (password === '')
    throw new CommandFailed('failed', `--password-file: ${passwordFile} cannot be read, or is empty.`)
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
}

/** Fields that are not known are passed over: servers differ. */
const Download = Type.Object({
  href: Type.String(),
  header: Type.Optional(Type.Record(Type.String(), Type.String())),
})
const Answer = Type.Object({
  objects: Type.Array(
    Type.Object({
      oid: Type.String(),
      actions: Type.Optional(Type.Object({ download: Type.Optional(Download) })),
      error: Type.Optional(Type.Object({ message: Type.String() })),
    }),
  ),
})
type Told = ReadonlyMap<string, Static<typeof Answer>['objects'][number]>

const askBatch = async (
  door: OutboundHttp,
  address: string,
  credentials: Credentials,
  objects: readonly Wanted[],
): Promise<Told> => {
  const request = {
    url: `${address.replace(/\/+$/, '')}/objects/batch`,
    method: 'POST',
    headers: { accept: lfsMediaType, 'content-type': lfsMediaType },
    credentials,
    body: Buffer.from(JSON.stringify({ operation: 'download', transfers: ['basic'], objects })),
    repeatable: true,
    answerMs: importAnswerMs,
    bodyBytesMax: importAnswerBytesMax,
  } as const
  try {
    return await door.ask(request, readBatch)
  } catch (error) {
    if (error instanceof OutboundFailure) throw new CommandFailed('noService', outwardly(error))
    throw error
  }
}

const readBatch = async (answer: OutboundAnswer): Promise<Told> => {
  const { origin } = new URL(answer.url)
  if (answer.status === 401 || answer.status === 403)
    throw new CommandFailed(
      'credentialRefused',
      `${origin} refuses (${answer.status}): ${messageIn(await textOf(answer))} Say who asks by --user and --password-file.`,
    )
  if (answer.status !== 200)
    throw new CommandFailed('failed', `${origin} answers ${answer.status}: ${messageIn(await textOf(answer))}`)
  const said = parsed(await textOf(answer))
  if (!Value.Check(Answer, said))
    throw new CommandFailed(
      'failed',
      `What answers at ${origin} is no server of Git LFS; the address ends before /objects/batch.`,
    )
  return new Map(said.objects.map((each) => [each.oid, each]))
}

const textOf = async (answer: OutboundAnswer): Promise<string> =>
  Buffer.from(await answer.whole(importAnswerBytesMax)).toString()

/** Headers that say how a message is sent are ours. */
const ours: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'host',
  'te',
  'transfer-encoding',
  'upgrade',
])

const headersOf = ({ header = {} }: Static<typeof Download>): Credentials =>
  Object.fromEntries(
    Object.entries(header)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !ours.has(name)),
  )

const fetchObject = async (
  door: OutboundHttp,
  download: Static<typeof Download>,
  size: number,
  credentials: Credentials,
  take: Take,
): Promise<string | null> => {
  const request = {
    url: download.href,
    method: 'GET',
    // What lets in where it leads to goes nowhere else.
    credentials: { ...credentials, ...headersOf(download) },
    redirectsMax: importRedirectsMax,
    answerMs: importAnswerMs,
    bodyBytesMax: Math.max(size, lfsBodyBytesMax),
  } as const
  try {
    return await door.ask(request, async (answer) => {
      if (answer.status !== 200) return `${new URL(answer.url).origin} answers ${answer.status}`
      return take(Readable.from(answer.pieces, { objectMode: false }))
    })
  } catch (error) {
    return error instanceof OutboundFailure ? outwardly(error) : `it cannot be asked for (${String(error)})`
  }
}

const outwardly = ({ message, trouble }: OutboundFailure): string =>
  trouble === 'blocked'
    ? `${message} (--allow-private names networks that may be asked, --plain-http allows no TLS)`
    : message
