import assert from 'node:assert/strict'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { settingNames } from './names.ts'
import { readSettings, SettingsInvalid, unknownSettings } from './rules.ts'

const faultsOf = (environment: Record<string, string>): readonly string[] => {
  try {
    readSettings(environment)
    return []
  } catch (error) {
    assert.ok(error instanceof SettingsInvalid)
    assert.equal(error.message, error.faults.join('\n'))
    return error.faults
  }
}

/** For each setting: values that are taken and what they become, and values that are refused. */
const recipient = `age1${'q'.repeat(58)}`

const cases: Record<
  (typeof settingNames)[number]['name'],
  { good: [string, (s: ReturnType<typeof readSettings>) => unknown, unknown][]; bad: string[] }
> = {
  SVC_DATA_DIR: {
    good: [
      ['/srv/svc', (s) => s.keysFile, { path: '/srv/svc/config/keys.json', makeIfMissing: true }],
      ['x', (s) => s.dataDir, resolve('x')],
    ],
    bad: [],
  },
  SVC_LISTEN: {
    good: [
      ['0.0.0.0:80', (s) => s.listen, { host: '0.0.0.0', port: 80 }],
      ['[::1]:0', (s) => s.listen, { host: '::1', port: 0 }],
      ['localhost:65535', (s) => s.listen, { host: 'localhost', port: 65_535 }],
      ['8080', (s) => s.listen, { host: '127.0.0.1', port: 8080 }],
      [':8080', (s) => s.listen, { host: '::', port: 8080 }],
    ],
    bad: [
      '65536',
      ':65536',
      '127.0.0.1',
      '127.0.0.1:',
      '127.0.0.1:65536',
      '[zz]:80',
      '::1:80',
      'a b:80',
      '127.0.0.1:-1',
      'http://a:80',
    ],
  },
  SVC_INSTANCE_NAME: {
    good: [['Staging of Acme', (s) => s.instanceName, 'Staging of Acme']],
    bad: ['x'.repeat(41), 'a\tb'],
  },
  SVC_BACKUP_VAULT: {
    good: [
      ['file:/mnt/b', (s) => s.backupVault?.kind, 'directory'],
      ['s3://backups/svc', (s) => s.backupVault?.kind, 's3'],
    ],
    bad: ['/mnt/b', 'file:', 'ftp://x'],
  },
  SVC_BACKUP_MIB_PER_SECOND: {
    good: [
      ['off', (s) => s.backupBytesPerSecond, null],
      ['10', (s) => s.backupBytesPerSecond, 10_485_760],
    ],
    bad: ['0', '-1', 'fast'],
  },
  SVC_BACKUP_RECIPIENT: {
    good: [
      [recipient, (s) => s.backupRecipients, [recipient]],
      [`${recipient}, ${recipient}`, (s) => s.backupRecipients.length, 2],
    ],
    bad: ['age1', 'AGE-SECRET-KEY-1', `${recipient},`],
  },
  SVC_BACKUP_IDENTITY_FILE: { good: [['/etc/key', (s) => s.backupIdentityFile, '/etc/key']], bad: [] },
  SVC_BACKUP_REHEARSE: {
    good: [
      ['off', (s) => s.backupRehearse, false],
      ['monthly', (s) => s.backupRehearse, true],
    ],
    bad: ['weekly', 'true'],
  },
  SVC_REDIRECT_DOWNLOADS: {
    good: [['false', (s) => s.redirectDownloads, false]],
    bad: ['yes', '1', 'true'],
  },
  SVC_SEND_BY_PROXY: {
    good: [['off', (s) => s.sendByProxy, null]],
    bad: [
      // Nobody is trusted.
      '/svc-files/',
      ...[
        '/',
        'svc-files/',
        '//',
        '/a//b',
        '/a/../b',
        '/./a',
        '/a b/',
        '/a?b',
        '/a#b',
        '/%61',
        '/a\\b',
        '@named',
        '/é',
      ],
      ...['https://files.example.org/a', `/${'a'.repeat(65)}`, '/a'.repeat(9), '/api/', '/V2/files', '/health'],
    ],
  },
  SVC_PROCESSES: {
    good: [['4', (s) => s.processes, 4]],
    bad: ['0', '65', 'all'],
  },
  SVC_DOWNLOAD_SLOTS: {
    good: [['3', (s) => s.downloadSlots, 3]],
    bad: ['0', '10001', '-1', 'many'],
  },
  SVC_SHARED_DOWNLOAD_SLOTS: {
    good: [
      ['12', (s) => s.sharedDownloadSlots, 12],
      ['off', (s) => s.sharedDownloadSlots, null],
    ],
    bad: ['0', 'on', '10001'],
  },
  SVC_DOWNLOAD_WAIT_SECONDS: {
    good: [
      ['0', (s) => s.downloadWaitMs, 0],
      ['45', (s) => s.downloadWaitMs, 45_000],
    ],
    bad: ['-1', '601', '1.5', '11min'],
  },
  SVC_BASE_URL: {
    good: [
      ['https://files.example.org/', (s) => s.baseUrl, 'https://files.example.org'],
      ['https://example.org/tools/svc/', (s) => s.baseUrl, 'https://example.org/tools/svc'],
    ],
    bad: [
      'files.example.org',
      'ftp://a',
      'https://a//b',
      'https://a/b/../c',
      'https://a/%73vc',
      'https://a/api',
      'https://a/V2/x',
      'https://user:hush@a',
      'https://a?x=1',
      'null',
      '*',
    ],
  },
  SVC_DATABASE_URL: {
    good: [
      ['sqlite:x.db', (s) => s.databaseUrl, `sqlite:${resolve('x.db')}`],
      ['postgres://u:p@h/d', (s) => s.databaseUrl, 'postgres://u:p@h/d'],
      ['postgresql://h/d', (s) => s.databaseUrl, 'postgresql://h/d'],
    ],
    bad: ['sqlite:', 'x.db', 'mysql://u:hush@h/d', 'postgres:', 'postgres//u:hush@h'],
  },
  SVC_BLOB_STORE: {
    good: [
      ['file:/b', (s) => s.blobStore, { kind: 'directory', root: '/b', staging: '/b/staging' }],
      [
        's3://my-bucket/a/b?endpoint=http://127.0.0.1:7480&region=eu-central-1&pathStyle=false',
        (s) => s.blobStore,
        {
          kind: 's3',
          bucket: 'my-bucket',
          prefix: 'a/b/',
          endpoint: 'http://127.0.0.1:7480',
          region: 'eu-central-1',
          pathStyle: false,
        },
      ],
      [
        's3://my-bucket',
        (s) => s.blobStore,
        { kind: 's3', bucket: 'my-bucket', prefix: '', endpoint: null, region: 'us-east-1', pathStyle: false },
      ],
      [
        's3://my-bucket/?endpoint=https%3A%2F%2Fs3.example.org%2F',
        (s) => s.blobStore,
        {
          kind: 's3',
          bucket: 'my-bucket',
          prefix: '',
          endpoint: 'https://s3.example.org',
          region: 'us-east-1',
          pathStyle: true,
        },
      ],
    ],
    bad: [
      ...['file:', '/b', 'ftp://b', 's3:', 's3://', 's3://B', 's3://key:hush@bucket', 's3:bucket', 's3://ab'],
      ...['s3://bucket/a//b', 's3://bucket/a b', `s3://bucket/${'a'.repeat(101)}`, 's3://bucket/a#b'],
      ...['s3://bucket?endpoint=localhost', 's3://bucket?endpoint=http://a/b', 's3://bucket?endpoint=http://u:hush@a'],
      ...['s3://bucket?region=', 's3://bucket?region=EU', 's3://bucket?pathStyle=yes', 's3://bucket?pathstyle=true'],
      ...['s3://bucket?accessKey=hush', 's3://bucket?region=a&region=b'],
    ],
  },
  SVC_KEYS_FILE: { good: [['/k.json', (s) => s.keysFile, { path: '/k.json', makeIfMissing: false }]], bad: [] },
  SVC_ALLOW_REGISTRATION: {
    good: [
      ['true', (s) => s.allowRegistration, true],
      ['false', (s) => s.allowRegistration, false],
    ],
    bad: ['yes', '1', 'TRUE', 'on'],
  },
  SVC_CORS_ORIGINS: {
    good: [['https://a, http://b:81/ ,', (s) => [...s.corsOrigins], ['https://a', 'http://b:81']]],
    bad: ['*', 'null', 'a', 'https://a/b', 'https://a, b', 'file:///a'],
  },
  SVC_MAX_OBJECT_BYTES: {
    good: [
      ['1', (s) => s.maxObjectBytes, 1],
      ['10737418240000', (s) => s.maxObjectBytes, 10_737_418_240_000],
      ['5 GiB', (s) => s.maxObjectBytes, 5 * 1024 ** 3],
      ['5gb', (s) => s.maxObjectBytes, 5e9],
    ],
    bad: ['0', '10737418240001', '1e3', '1.5', '-1', '1.5GB', '0x10', '10001GiB', '5G'],
  },
  SVC_INLINE_BYTES: {
    good: [
      ['0', (s) => s.inlineBytes, 0],
      ['64KiB', (s) => s.inlineBytes, 65_536],
    ],
    bad: ['-1', '65537', '1MiB', 'off'],
  },
  SVC_CAPACITY_BYTES: {
    good: [
      ['0', (s) => s.capacityBytes, 0],
      ['10TB', (s) => s.capacityBytes, 1e13],
    ],
    bad: ['-1', 'x', '9007199254740992', '9999999TiB'],
  },
  SVC_CLEANUP_GRACE_HOURS: {
    good: [
      ['2', (s) => s.cleanupGraceMs, 7_200_000],
      ['0', (s) => s.cleanupGraceMs, 0],
      ['2d', (s) => s.cleanupGraceMs, 2 * 86_400_000],
      ['90min', (s) => s.cleanupGraceMs, 5_400_000],
    ],
    bad: ['8761', '0.5', '366d', '1y'],
  },
  SVC_JOURNAL_RETENTION_DAYS: {
    good: [
      ['1', (s) => s.journalRetentionMs, 86_400_000],
      ['36500', (s) => s.journalRetentionMs, 36_500 * 86_400_000],
    ],
    bad: ['0', '36501', '1.5', '12h'],
  },
  SVC_SECURITY_AUDIT_RETENTION_DAYS: {
    good: [['2', (s) => s.securityAuditRetentionMs, 2 * 86_400_000]],
    bad: ['0', '36501', 'never'],
  },
  SVC_FREE_SPACE_RESERVE_BYTES: { good: [['0', (s) => s.freeSpaceReserveBytes, 0]], bad: ['-1', '1G'] },
  SVC_UPLOAD_DEADLINE_SECONDS: { good: [['60', (s) => s.uploadDeadlineSeconds, 60]], bad: ['0', '2000001', '1m'] },
  SVC_UPLOAD_SHARE_PERCENT: { good: [['100', (s) => s.uploadSharePercent, 100]], bad: ['0', '101', 'half'] },
  SVC_REQUESTS_PER_SECOND: { good: [['5', (s) => s.requestsPerSecond, 5]], bad: ['0', '1000001', 'many'] },
  SVC_TRUSTED_PROXIES: {
    good: [
      [
        '10.0.0.0/8, ::1',
        (s) => s.trustedProxies.map(([network, bits]) => `${network}/${bits}`),
        ['10.0.0.0/8', '::1/128'],
      ],
    ],
    bad: ['localhost', '10.0.0.0/33', '*', '10.0.0.0/8; ::1'],
  },
  SVC_WEBHOOKS_FILE: { good: [['x', (s) => s.webhooksFile, resolve('x')]], bad: [] },
  SVC_WEBHOOKS_CA_FILE: { good: [['/ca.pem', (s) => s.webhooksCaFile, '/ca.pem']], bad: [] },
  SVC_WEBHOOKS_ALLOW_PRIVATE: {
    good: [
      [
        '10.0.0.0/8, ::1',
        (s) => s.webhooksAllowPrivate.map(([network, bits]) => `${network}/${bits}`),
        ['10.0.0.0/8', '::1/128'],
      ],
    ],
    bad: ['localhost', '10', '10.0.0.0/33', '*'],
  },
  SVC_NPM_UPSTREAM_ALLOW_PRIVATE: {
    good: [
      ['10.0.0.0/8', (s) => s.npmUpstreamAllowPrivate.map(([network, bits]) => `${network}/${bits}`), ['10.0.0.0/8']],
    ],
    bad: ['localhost', '10', '*'],
  },
  SVC_NPM_UPSTREAM_CA_FILE: { good: [['/ca.pem', (s) => s.npmUpstreamCaFile, '/ca.pem']], bad: [] },
  SVC_NPM_UPSTREAM_CREDENTIALS_FILE: { good: [['x', (s) => s.npmUpstreamCredentialsFile, resolve('x')]], bad: [] },
  SVC_NPM_UPSTREAM_ANSWER_SECONDS: {
    good: [['2', (s) => s.npmUpstreamAnswerMs, 2_000]],
    bad: ['0', '301', 'soon'],
  },
  SVC_ACCESS_LOG: { good: [['false', (s) => s.accessLog, false]], bad: ['off', '0'] },
  SVC_LOG_LEVEL: { good: [['debug', (s) => s.logLevel, 'debug']], bad: ['trace', 'INFO', 'verbose'] },
}

describe('readSettings', () => {
  it('has a default for everything', () => {
    const settings = readSettings({})
    assert.equal(settings.dataDir, resolve('data'))
    assert.deepEqual(settings.listen, { host: '127.0.0.1', port: 8080 })
    assert.equal(settings.databaseUrl, `sqlite:${join(resolve('data'), 'svc.db')}`)
    assert.equal(settings.allowRegistration, false)
    assert.equal(settings.corsOrigins.size, 0)
    assert.equal(settings.trustedProxies.length, 0)
    assert.equal(settings.maxObjectBytes, 10_737_418_240_000)
    assert.equal(settings.capacityBytes, 10 * 1024 ** 4)
    assert.equal(settings.freeSpaceReserveBytes, 1024 ** 3)
    assert.equal(settings.cleanupGraceMs, 24 * 3_600_000)
    assert.equal(settings.uploadDeadlineSeconds, 1800)
    assert.ok(Object.isFrozen(settings))
  })

  it('takes an empty or blank variable for one that is not set', () => {
    const blank = Object.fromEntries(settingNames.map(({ name }, index) => [name, ' '.repeat(index % 3)]))
    assert.deepEqual(readSettings(blank), readSettings({}))
  })

  for (const { name } of settingNames)
    it(`reads ${name}, and refuses what it cannot be in a sentence that names it`, () => {
      const { good, bad } = cases[name]
      assert.ok(good.length > 0)
      for (const [text, pick, expected] of good) {
        assert.deepEqual(pick(readSettings({ [name]: text })), expected, text)
        assert.deepEqual(pick(readSettings({ [name]: ` ${text} ` })), expected, text)
      }
      for (const text of bad) {
        const faults = faultsOf({ [name]: text })
        assert.equal(faults.length, 1, text)
        assert.match(String(faults[0]), new RegExp(`^${name}: .`))
      }
    })

  it('tells all faults at once', () => {
    const wrong = Object.fromEntries(
      settingNames.flatMap(({ name }) => cases[name].bad.slice(0, 1).map((text) => [name, text])),
    )
    const named = faultsOf(wrong).map((fault) => fault.split(':', 1)[0])
    assert.deepEqual(named.sort(), Object.keys(wrong).sort())
    assert.ok(named.length > 10)
  })

  it('repeats no password of an address', () => {
    const told = faultsOf({
      SVC_DATABASE_URL: 'mysql://user:hush@host/db',
      SVC_BASE_URL: 'https://user:hush@host',
      SVC_BLOB_STORE: 's3://key:hush@bucket',
    })
    assert.equal(told.length, 3)
    assert.ok(!told.join('\n').includes('hush'), told.join('\n'))
  })
})

describe('a proxy that sends files', () => {
  const trusted = { SVC_TRUSTED_PROXIES: '127.0.0.1' }

  it('has them at a location, with a slash at its end', () => {
    for (const [text, location] of [
      ['/svc-files/', '/svc-files/'],
      ['/svc-files', '/svc-files/'],
      ['/_a/b.c/1-2', '/_a/b.c/1-2/'],
    ] as const)
      assert.equal(readSettings({ ...trusted, SVC_SEND_BY_PROXY: text }).sendByProxy, location)
  })

  it('is trusted, and has a folder to send them from', () => {
    const asked = { SVC_SEND_BY_PROXY: '/svc-files/', SVC_BLOB_STORE: 's3://bucket' }
    assert.match(faultsOf({ ...trusted, ...asked }).join('\n'), /^SVC_SEND_BY_PROXY: .*folder.*SVC_BLOB_STORE=file:/)
    assert.match(
      faultsOf({ SVC_SEND_BY_PROXY: '/svc-files/' }).join('\n'),
      /^SVC_SEND_BY_PROXY: .*not trusted.*SVC_TRUSTED_PROXIES$/,
    )
    assert.equal(faultsOf(asked).length, 2)
  })
})

describe('unknownSettings', () => {
  it('names variables that look like settings and are none', () => {
    const environment = { SVC_DATADIR: '1', SVC_DATA_DIR: '1', SVC_TEST_X: '1', PATH: '1', XSVC_A: '1' }
    assert.deepEqual(unknownSettings(environment), ['SVC_DATADIR is no setting of svc; did you mean SVC_DATA_DIR?'])
    assert.deepEqual(unknownSettings({ SVC_SOMETHING_ELSE: '1' }), [
      'SVC_SOMETHING_ELSE is no setting of svc; see svc settings',
    ])
  })
})
