/**
 * Every setting: its environment variable, its default in words, and what it means. The reference page is made from
 * this.
 */
export const settingNames = [
  { name: 'SVC_DATA_DIR', fallback: './data', meaning: 'Folder of configuration, database and stored files.' },
  {
    name: 'SVC_LISTEN',
    fallback: '127.0.0.1:8080',
    meaning: 'Address and port to listen on; 8080 is this machine alone, :8080 all its addresses, port 0 a free one.',
  },
  {
    name: 'SVC_BASE_URL',
    fallback: 'as the request says',
    meaning:
      'Address under which clients reach the service, such as https://files.example.org or https://example.org/svc.',
  },
  {
    name: 'SVC_INSTANCE_NAME',
    fallback: 'the host in the address',
    meaning: 'What the console calls this deployment, such as staging, so that it is not taken for another one.',
  },
  {
    name: 'SVC_DATABASE_URL',
    fallback: 'sqlite:<data>/svc.db',
    meaning: 'Database: sqlite:<path> on one machine, postgres://… for several.',
  },
  {
    name: 'SVC_BLOB_STORE',
    fallback: 'file:<data>/blobs',
    meaning: 'Where the bytes are: file:<folder>, or s3://<bucket>/<prefix>?endpoint=…&region=…&pathStyle=true.',
  },
  {
    name: 'SVC_BACKUP_VAULT',
    fallback: 'none',
    meaning:
      'Where backups are kept: file:<folder>, which must be there, or s3://<bucket>/<prefix>?… as for the store.',
  },
  {
    name: 'SVC_BACKUP_RECIPIENT',
    fallback: 'none',
    meaning: 'Whom backups are encrypted to: recipients of age (age1…), with commas between them.',
  },
  {
    name: 'SVC_BACKUP_IDENTITY_FILE',
    fallback: 'none',
    meaning:
      'File with the secret key of a recipient, as age-keygen writes it; only what reads encrypted points needs it.',
  },
  {
    name: 'SVC_BACKUP_REHEARSE',
    fallback: 'off',
    meaning:
      'monthly has the backup agent try a restore of the newest point each month, in <data>/rehearsal, which needs room for all of it.',
  },
  {
    name: 'SVC_BACKUP_MIB_PER_SECOND',
    fallback: 'off',
    meaning: 'How much a backup reads a second at most.',
  },
  {
    name: 'SVC_KEYS_FILE',
    fallback: '<data>/config/keys.json',
    meaning: 'File with the recovery key and other keys; read at start.',
  },
  { name: 'SVC_ALLOW_REGISTRATION', fallback: 'false', meaning: 'true lets people create accounts for themselves.' },
  {
    name: 'SVC_CORS_ORIGINS',
    fallback: 'none',
    meaning: 'Origins whose pages may call the service, separated by commas.',
  },
  {
    name: 'SVC_MAX_OBJECT_BYTES',
    fallback: '10000GiB',
    meaning: 'Largest file; can only be lowered. Sizes are bytes, or bear a unit: 500MB, 10GiB.',
  },
  {
    name: 'SVC_INLINE_BYTES',
    fallback: '16KiB',
    meaning: 'Files up to this size are kept in the database instead of the store; 0 to 64KiB.',
  },
  {
    name: 'SVC_CAPACITY_BYTES',
    fallback: '10TiB',
    meaning: 'What may be reserved on the whole server.',
  },
  {
    name: 'SVC_CLEANUP_GRACE_HOURS',
    fallback: '24',
    meaning:
      'How long deleted and cancelled bytes are kept before they are removed. Times may bear a unit: 90min, 36h, 2d.',
  },
  {
    name: 'SVC_JOURNAL_RETENTION_DAYS',
    fallback: '730',
    meaning: 'How long the journals of repositories (audit, change feed) are kept.',
  },
  {
    name: 'SVC_SECURITY_AUDIT_RETENTION_DAYS',
    fallback: '1825',
    meaning: 'How long the security audit is kept.',
  },
  {
    name: 'SVC_FREE_SPACE_RESERVE_BYTES',
    fallback: '1GiB',
    meaning: 'Room that must stay free on the disk; below it nothing is written.',
  },
  {
    name: 'SVC_UPLOAD_DEADLINE_SECONDS',
    fallback: '1800',
    meaning: 'Longest time for one request that sends a file.',
  },
  {
    name: 'SVC_UPLOAD_SHARE_PERCENT',
    fallback: '50',
    meaning: 'How much of the room that is left the uploads of one caller may reserve; 1 GiB in any case.',
  },
  {
    name: 'SVC_DOWNLOAD_SLOTS',
    fallback: '64',
    meaning: 'Downloads that a gateway sends at once; others wait in a fair queue. Small files need no slot.',
  },
  {
    name: 'SVC_SHARED_DOWNLOAD_SLOTS',
    fallback: 'off',
    meaning: 'Downloads that all gateways of one database send at once, instead of so many each.',
  },
  {
    name: 'SVC_DOWNLOAD_WAIT_SECONDS',
    fallback: '30',
    meaning: 'How long a download without a Svc-Download-Id is held for its turn.',
  },
  {
    name: 'SVC_REDIRECT_DOWNLOADS',
    fallback: 'false',
    meaning: 'true sends clients to signed addresses of the object store for files above 64 KiB.',
  },
  {
    name: 'SVC_SEND_BY_PROXY',
    fallback: 'off',
    meaning:
      'Where nginx in front has the folder of the stored files, such as /svc-files/; it then sends those above 64 KiB.',
  },
  {
    name: 'SVC_PROCESSES',
    fallback: '1',
    meaning: 'Gateway processes that share the port, for machines with several cores; they divide the download slots.',
  },
  {
    name: 'SVC_REQUESTS_PER_SECOND',
    fallback: '20000',
    meaning: 'Requests that one caller may send a second to one process; health is not counted.',
  },
  {
    name: 'SVC_TRUSTED_PROXIES',
    fallback: 'none',
    meaning: 'Networks (CIDR) whose X-Forwarded-* headers are believed, separated by commas.',
  },
  {
    name: 'SVC_WEBHOOKS_FILE',
    fallback: 'none',
    meaning: 'File with the subscriptions of webhooks; read at start, and again when it changes.',
  },
  {
    name: 'SVC_WEBHOOKS_ALLOW_PRIVATE',
    fallback: 'none',
    meaning: 'Networks (CIDR) whose private addresses may receive webhooks, separated by commas.',
  },
  {
    name: 'SVC_WEBHOOKS_CA_FILE',
    fallback: 'none',
    meaning: 'Certificates (PEM) of authorities that receivers of webhooks may have beside those of the system.',
  },
  {
    name: 'SVC_NPM_UPSTREAM_ALLOW_PRIVATE',
    fallback: 'none',
    meaning: 'Networks (CIDR) whose private addresses may be upstreams of npm repositories, separated by commas.',
  },
  {
    name: 'SVC_NPM_UPSTREAM_CA_FILE',
    fallback: 'none',
    meaning:
      'Certificates (PEM) of authorities that upstreams of npm repositories may have beside those of the system.',
  },
  {
    name: 'SVC_NPM_UPSTREAM_CREDENTIALS_FILE',
    fallback: 'none',
    meaning: 'File with credentials for upstreams of npm repositories, as .npmrc has them; read again when it changes.',
  },
  {
    name: 'SVC_NPM_UPSTREAM_ANSWER_SECONDS',
    fallback: '15',
    meaning: 'How long an upstream of an npm repository may take until it begins to answer.',
  },
  {
    name: 'SVC_ACCESS_LOG',
    fallback: 'true',
    meaning: 'false logs only those requests that need a person, instead of a line for each.',
  },
  { name: 'SVC_LOG_LEVEL', fallback: 'info', meaning: 'debug, info, warn or error.' },
] as const

/** What commands take from the environment that ask a service (`svc user`, `svc grant` and the like). */
export const clientNames = [
  {
    name: 'SVC_URL',
    fallback: 'where SVC_LISTEN says',
    meaning: 'Address of the service that commands ask, such as https://files.example.org.',
  },
  {
    name: 'SVC_TOKEN',
    fallback: 'the recovery key of this machine',
    meaning: 'Credential of commands: a session of an administrator, or the recovery key.',
  },
] as const

export type SettingName = (typeof settingNames)[number]['name']
