import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { day } from '../../src/kernel/units.ts'

const run = promisify(execFile)

/** Key and certificate of a server, as PEM. */
export interface Identity {
  readonly key: string
  readonly cert: string
}

/** An authority of the test's own, made with openssl. */
export interface SmallAuthority {
  readonly certificate: string
  /** For names and addresses; expired yesterday if it is said. */
  issue(names: readonly string[], expired?: 'expired'): Promise<Identity>
  /** By nobody but itself. */
  selfSigned(name: string): Promise<Identity>
}

type Cleanup = Pick<TestContext, 'after'>

const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
const asn1 = (ms: number): string => `${new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`

export const smallAuthority = async (t: Cleanup): Promise<SmallAuthority> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-authority-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const at = (name: string): string => join(folder, name)
  const openssl = (...args: string[]): Promise<unknown> => run('openssl', args, { cwd: folder })
  const selfSign = (name: string, subject: string, ...more: string[]): Promise<unknown> =>
    openssl(
      'req',
      '-x509',
      ...curve,
      '-keyout',
      at(`${name}.key`),
      '-out',
      at(`${name}.pem`),
      '-days',
      '2',
      '-subj',
      subject,
      ...more,
    )
  await selfSign('authority', '/CN=A small authority of a test')
  await writeFile(at('index.txt'), '')
  await writeFile(
    at('ca.cnf'),
    '[ca]\ndefault_ca=own\n[own]\ndatabase=index.txt\nnew_certs_dir=.\ncertificate=authority.pem\nprivate_key=authority.key\n' +
      'rand_serial=yes\ndefault_md=sha256\npolicy=any\nunique_subject=no\ncopy_extensions=copy\n[any]\ncommonName=supplied\n',
  )
  const read = (name: string): Promise<string> => readFile(at(name), 'utf8')
  let made = 0
  const begun = (): string => {
    made += 1
    return `server-${made}`
  }
  return {
    certificate: await read('authority.pem'),
    async issue(names, expired) {
      const name = begun()
      const alternatives = names.map((each) => `${isIP(each) === 0 ? 'DNS' : 'IP'}:${each}`).join(',')
      await openssl(
        'req',
        ...curve,
        '-keyout',
        at(`${name}.key`),
        '-out',
        at(`${name}.csr`),
        '-subj',
        '/CN=server',
        '-addext',
        `subjectAltName=${alternatives}`,
      )
      const from = Date.now() - (expired === undefined ? 1 : 5) * day
      const to = Date.now() + (expired === undefined ? 1 : -1) * day
      await openssl(
        'ca',
        '-batch',
        '-notext',
        '-config',
        at('ca.cnf'),
        '-in',
        at(`${name}.csr`),
        '-out',
        at(`${name}.pem`),
        '-startdate',
        asn1(from),
        '-enddate',
        asn1(to),
      )
      return { key: await read(`${name}.key`), cert: await read(`${name}.pem`) }
    },
    async selfSigned(host) {
      const name = begun()
      await selfSign(name, `/CN=${host}`, '-addext', `subjectAltName=${isIP(host) === 0 ? 'DNS' : 'IP'}:${host}`)
      return { key: await read(`${name}.key`), cert: await read(`${name}.pem`) }
    },
  }
}
