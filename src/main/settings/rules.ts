import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import { closest, distance } from 'fastest-levenshtein'
import { type Networks, parseNetworks } from '../../adapters/outbound-fetch/networks.ts'
import { type Proxies, readProxies } from '../../adapters/outbound-fetch/proxies.ts'
import { parseTrustedProxies, type TrustedProxies } from '../../http/pipeline/client-address.ts'
import { downloadSlotsDefault, downloadSlotsMax, downloadWaitSecondsDefault } from '../../kernel/limits/downloads.ts'
import { inlineBytesDefault, inlineBytesMax } from '../../kernel/limits/engines.ts'
import { requestsPerSecondDefault } from '../../kernel/limits/http.ts'
import {
  journalRetentionDaysDefault,
  retentionDaysMax,
  retentionDaysMin,
  securityAuditRetentionDaysDefault,
} from '../../kernel/limits/journal.ts'
import { graceHoursMax } from '../../kernel/limits/lifecycle.ts'
import { npmUpstreamAnswerSecondsDefault, npmUpstreamAnswerSecondsMax } from '../../kernel/limits/npm-upstream.ts'
import { gatewayProcessesMax } from '../../kernel/limits/process.ts'
import {
  capacityBytesDefault,
  cleanupGraceHoursDefault,
  freeSpaceReserveBytesDefault,
  objectBytesMax,
  uploadDeadlineSecondsDefault,
  uploadSharePercentDefault,
} from '../../kernel/limits/transfers.ts'
import { day, hour, MiB, second } from '../../kernel/units.ts'
import { baseUrl } from './base-url.ts'
import { type BlobStoreSetting, blobStoreSetting } from './blob-store.ts'
import { size, time } from './measures.ts'
import { clientNames, type SettingName, settingNames } from './names.ts'
import { proxyLocation, sendByProxyFaults } from './proxy-location.ts'

const instanceNameMax = 40

/** Stands beside the word mark, on one line. */
const instanceName = (text: string): string => {
  if (text.length > instanceNameMax || /\p{Cc}/u.test(text))
    throw new RangeError(`must be text of ${instanceNameMax} characters at most`)
  return text
}

const logLevels = ['debug', 'info', 'warn', 'error'] as const

export interface Settings {
  readonly instanceName: string | null
  readonly dataDir: string
  readonly listen: { readonly host: string; readonly port: number }
  readonly baseUrl: string | null
  readonly databaseUrl: string
  readonly blobStore: BlobStoreSetting
  /** Where backups are kept; null: there are none. */
  readonly backupVault: BlobStoreSetting | null
  /** Whom backups are encrypted to; nobody: they are not. */
  readonly backupRecipients: readonly string[]
  readonly backupIdentityFile: string | null
  readonly backupBytesPerSecond: number | null
  /** Whether the agent tries a restore each month. */
  readonly backupRehearse: boolean
  readonly keysFile: { readonly path: string; readonly makeIfMissing: boolean }
  readonly allowRegistration: boolean
  readonly corsOrigins: ReadonlySet<string>
  readonly maxObjectBytes: number
  /** Files up to here are kept in the database. */
  readonly inlineBytes: number
  readonly capacityBytes: number
  readonly cleanupGraceMs: number
  readonly journalRetentionMs: number
  readonly securityAuditRetentionMs: number
  readonly freeSpaceReserveBytes: number
  readonly uploadDeadlineSeconds: number
  readonly uploadSharePercent: number
  readonly downloadSlots: number
  /** Null: each gateway has slots of its own. */
  readonly sharedDownloadSlots: number | null
  readonly downloadWaitMs: number
  readonly redirectDownloads: boolean
  /** Where the proxy in front has the folder of the stored files, with a slash at its end; null: we send them. */
  readonly sendByProxy: string | null
  readonly processes: number
  readonly requestsPerSecond: number
  readonly trustedProxies: TrustedProxies
  readonly webhooksFile: string | null
  readonly webhooksAllowPrivate: Networks
  readonly webhooksCaFile: string | null
  readonly npmUpstreamAllowPrivate: Networks
  readonly npmUpstreamCaFile: string | null
  readonly npmUpstreamCredentialsFile: string | null
  readonly npmUpstreamAnswerMs: number
  /** Of requests to addresses that people typed. */
  readonly proxies: Proxies
  /** A line for each request, and not only for those that need a person. */
  readonly accessLog: boolean
  readonly logLevel: (typeof logLevels)[number]
}

/** All that is wrong with the settings, a sentence each. */
export class SettingsInvalid extends Error {
  override readonly name = 'SettingsInvalid'
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
    this.faults = faults
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/** Settings from the environment. Throws {@link SettingsInvalid} with every fault at once, each naming its variable. */
export const readSettings = (environment: Environment): Settings => {
  const faults: string[] = []
  /** An empty variable is an unset one. */
  const read = <T>(name: SettingName, fallback: T, parse: (text: string) => T): T => {
    const text = environment[name]?.trim()
    if (text === undefined || text === '') return fallback
    try {
      return parse(text)
    } catch (error) {
      faults.push(`${name}: ${error instanceof Error ? error.message : String(error)}`)
      return fallback
    }
  }
  const dataDir = read('SVC_DATA_DIR', resolve('data'), (text) => resolve(text))
  const settings: Settings = {
    dataDir,
    listen: read('SVC_LISTEN', { host: '127.0.0.1', port: 8080 }, listenAddress),
    baseUrl: read<string | null>('SVC_BASE_URL', null, baseUrl),
    instanceName: read<string | null>('SVC_INSTANCE_NAME', null, instanceName),
    databaseUrl: read('SVC_DATABASE_URL', `sqlite:${join(dataDir, 'svc.db')}`, databaseUrl),
    blobStore: read<BlobStoreSetting>(
      'SVC_BLOB_STORE',
      { kind: 'directory', root: join(dataDir, 'blobs'), staging: join(dataDir, 'staging') },
      (text) => blobStoreSetting(text, environment),
    ),
    backupVault: read<BlobStoreSetting | null>('SVC_BACKUP_VAULT', null, (text) => blobStoreSetting(text, environment)),
    backupBytesPerSecond: read<number | null>('SVC_BACKUP_MIB_PER_SECOND', null, (text) =>
      text === 'off' ? null : wholeNumber(1, 100_000)(text) * MiB,
    ),
    backupRecipients: read<readonly string[]>('SVC_BACKUP_RECIPIENT', [], (text) => {
      const recipients = text.split(',').map((recipient) => recipient.trim())
      if (!recipients.every((recipient) => /^age1[a-z0-9]{58,4000}$/.test(recipient)))
        throw new RangeError('must be recipients as age-keygen prints them (age1…), with commas between them')
      return recipients
    }),
    backupIdentityFile: read<string | null>('SVC_BACKUP_IDENTITY_FILE', null, (text) => resolve(text)),
    backupRehearse: read('SVC_BACKUP_REHEARSE', false, (text) => {
      if (text !== 'monthly' && text !== 'off') throw new RangeError('must be monthly or off')
      return text === 'monthly'
    }),
    keysFile: read<Settings['keysFile']>(
      'SVC_KEYS_FILE',
      { path: join(dataDir, 'config', 'keys.json'), makeIfMissing: true },
      (text) => ({
        path: resolve(text),
        makeIfMissing: false,
      }),
    ),
    allowRegistration: read<boolean>('SVC_ALLOW_REGISTRATION', false, flag),
    corsOrigins: read<ReadonlySet<string>>('SVC_CORS_ORIGINS', new Set(), (text) => new Set(list(text).map(originUrl))),
    maxObjectBytes: read('SVC_MAX_OBJECT_BYTES', objectBytesMax, size(1, objectBytesMax)),
    inlineBytes: read('SVC_INLINE_BYTES', inlineBytesDefault, size(0, inlineBytesMax)),
    capacityBytes: read('SVC_CAPACITY_BYTES', capacityBytesDefault, size(0, Number.MAX_SAFE_INTEGER)),
    cleanupGraceMs: read('SVC_CLEANUP_GRACE_HOURS', cleanupGraceHoursDefault * hour, time(hour, 0, graceHoursMax)),
    journalRetentionMs: read('SVC_JOURNAL_RETENTION_DAYS', journalRetentionDaysDefault * day, retentionDays),
    securityAuditRetentionMs: read(
      'SVC_SECURITY_AUDIT_RETENTION_DAYS',
      securityAuditRetentionDaysDefault * day,
      retentionDays,
    ),
    freeSpaceReserveBytes: read(
      'SVC_FREE_SPACE_RESERVE_BYTES',
      freeSpaceReserveBytesDefault,
      size(0, Number.MAX_SAFE_INTEGER),
    ),
    uploadDeadlineSeconds:
      read('SVC_UPLOAD_DEADLINE_SECONDS', uploadDeadlineSecondsDefault * second, time(second, 1, 2_000_000)) / second,
    uploadSharePercent: read('SVC_UPLOAD_SHARE_PERCENT', uploadSharePercentDefault, wholeNumber(1, 100)),
    downloadSlots: read('SVC_DOWNLOAD_SLOTS', downloadSlotsDefault, wholeNumber(1, downloadSlotsMax)),
    sharedDownloadSlots: read<number | null>('SVC_SHARED_DOWNLOAD_SLOTS', null, (text) =>
      text === 'off' ? null : wholeNumber(1, downloadSlotsMax)(text),
    ),
    downloadWaitMs: read('SVC_DOWNLOAD_WAIT_SECONDS', downloadWaitSecondsDefault * second, time(second, 0, 600)),
    sendByProxy: read<string | null>('SVC_SEND_BY_PROXY', null, (text) =>
      text === 'off' ? null : proxyLocation(text),
    ),
    processes: read('SVC_PROCESSES', 1, wholeNumber(1, gatewayProcessesMax)),
    redirectDownloads: read<boolean>('SVC_REDIRECT_DOWNLOADS', false, flag),
    requestsPerSecond: read('SVC_REQUESTS_PER_SECOND', requestsPerSecondDefault, wholeNumber(1, 1_000_000)),
    trustedProxies: read<TrustedProxies>('SVC_TRUSTED_PROXIES', [], (text) => parseTrustedProxies(list(text))),
    webhooksFile: read<string | null>('SVC_WEBHOOKS_FILE', null, (text) => resolve(text)),
    webhooksAllowPrivate: read<Networks>('SVC_WEBHOOKS_ALLOW_PRIVATE', [], (text) => parseNetworks(list(text))),
    webhooksCaFile: read<string | null>('SVC_WEBHOOKS_CA_FILE', null, (text) => resolve(text)),
    npmUpstreamAllowPrivate: read<Networks>('SVC_NPM_UPSTREAM_ALLOW_PRIVATE', [], (text) => parseNetworks(list(text))),
    npmUpstreamCaFile: read<string | null>('SVC_NPM_UPSTREAM_CA_FILE', null, (text) => resolve(text)),
    npmUpstreamCredentialsFile: read<string | null>('SVC_NPM_UPSTREAM_CREDENTIALS_FILE', null, (text) => resolve(text)),
    npmUpstreamAnswerMs: read(
      'SVC_NPM_UPSTREAM_ANSWER_SECONDS',
      npmUpstreamAnswerSecondsDefault * second,
      time(second, 1, npmUpstreamAnswerSecondsMax),
    ),
    proxies: proxiesIn(environment, faults),
    accessLog: read<boolean>('SVC_ACCESS_LOG', true, flag),
    logLevel: read('SVC_LOG_LEVEL', 'info', logLevel),
  }
  if (settings.redirectDownloads && settings.blobStore.kind !== 's3')
    faults.push('SVC_REDIRECT_DOWNLOADS: only an object store has addresses (SVC_BLOB_STORE=s3://…)')
  if (settings.sendByProxy !== null) faults.push(...sendByProxyFaults(settings))
  if (faults.length > 0) throw new SettingsInvalid(faults)
  return Object.freeze(settings)
}

/** The setting that was probably meant by a name that is none; null where nothing comes near. */
export const closestSetting = (name: string): SettingName | null => {
  const meant = closest(
    name,
    settingNames.map((setting) => setting.name),
  )
  return settingNames.find((setting) => setting.name === meant && distance(name, meant) <= misspeltMax)?.name ?? null
}

/** A sentence for each variable that looks like a setting and is none. */
export const unknownSettings = (environment: Environment): string[] => {
  const known = new Set<string>([...settingNames, ...clientNames].map(({ name }) => name))
  return Object.keys(environment)
    .filter((name) => name.startsWith('SVC_') && !name.startsWith('SVC_TEST_') && !known.has(name))
    .map((name) => {
      const meant = closestSetting(name)
      return `${name} is no setting of svc${meant === null ? '; see svc settings' : `; did you mean ${meant}?`}`
    })
}

/** Letters that differ at most where one name was meant and another was typed. */
const misspeltMax = 4

const proxiesIn = (environment: Environment, faults: string[]): Proxies => {
  try {
    return readProxies(environment)
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error))
    return readProxies({})
  }
}

const list = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const number = Number(text)
    if (!/^\d{1,16}$/.test(text) || number < min || number > max)
      throw new RangeError(`${JSON.stringify(text)} is no whole number from ${min} to ${max}`)
    return number
  }

const retentionDays = time(day, retentionDaysMin, retentionDaysMax)

const flag = (text: string): boolean => {
  if (text !== 'true' && text !== 'false') throw new RangeError(`${JSON.stringify(text)} is neither true nor false`)
  return text === 'true'
}

const logLevel = (text: string): Settings['logLevel'] => {
  const level = logLevels.find((each) => each === text)
  if (level === undefined) throw new RangeError(`${JSON.stringify(text)} is none of ${logLevels.join(', ')}`)
  return level
}

/** `8080` is a port of this machine alone, `:8080` one of all its addresses. */
const listenAddress = (text: string): Settings['listen'] => {
  const [, colon, alone] = /^(:?)(\d{1,5})$/.exec(text) ?? []
  if (alone !== undefined && Number(alone) <= 65_535)
    return { host: colon === ':' ? '::' : '127.0.0.1', port: Number(alone) }
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text)
  const host = match?.[1] ?? match?.[2] ?? ''
  const port = Number(match?.[3])
  if (match === null || port > 65_535 || (match[1] !== undefined && isIP(host) !== 6))
    throw new RangeError(
      `${JSON.stringify(text)} is no address; write it like 127.0.0.1:8080, 8080 (this machine alone) or :8080 (all addresses)`,
    )
  return { host, port }
}

const originUrl = (text: string): string => {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== text.replace(/\/$/, ''))
    // A name and password before an @ are not repeated.
    throw new RangeError(
      `${JSON.stringify(text.replace(/[^/]*@/, '…@'))} is no origin; write it like https://files.example.org`,
    )
  return url.origin
}

const databaseUrl = (text: string): string => {
  if (text.startsWith('sqlite:') && text.length > 'sqlite:'.length)
    return `sqlite:${resolve(text.slice('sqlite:'.length))}`
  if (/^postgres(?:ql)?:\/\/./.test(text)) return text
  // The value may hold a password, so it is not repeated.
  throw new RangeError('write it like sqlite:/path/to/svc.db or postgres://user:password@host/database')
}
