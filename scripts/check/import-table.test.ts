import assert from 'node:assert/strict'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { cruise, type ICruiseResult } from 'dependency-cruiser'
import extractOptions from 'dependency-cruiser/config-utl/extract-depcruise-options'

/** A tiny tree: what each file says. Files that are only imported need not be named: they are made, empty. */
type Tree = Record<string, string>

const options = await extractOptions('./.dependency-cruiser.mjs')
const ofFolders = await extractOptions('./.dependency-cruiser.folders.mjs')
let folder: string

before(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-import-table-')))
})

after(async () => {
  await rm(folder, { recursive: true })
})

const packages = ['kysely', 'pg', 'fastify', 'commander', 'undici', '@aws-sdk/client-s3', 'typebox']

const plant = async (root: string, tree: Tree): Promise<void> => {
  const manifest = {
    name: 'tree',
    type: 'module',
    dependencies: {} as Tree,
    devDependencies: { 'fast-check': '1.0.0' },
  }
  for (const name of packages) manifest.dependencies[name] = '1.0.0'
  const files: Tree = { 'package.json': JSON.stringify(manifest), ...tree }
  for (const name of [...packages, 'fast-check']) {
    files[`node_modules/${name}/package.json`] = JSON.stringify({
      name,
      version: '1.0.0',
      type: 'module',
      main: './index.js',
    })
    files[`node_modules/${name}/index.js`] = 'export const part = 1\n'
  }
  for (const [path, text] of Object.entries(tree)) {
    for (const [, target] of text.matchAll(/'(\.[^']+)'/g)) {
      const imported = join(dirname(path), target ?? '')
      if (!imported.includes('missing')) files[imported] ??= 'export const part = 1\n'
    }
  }
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}

let trees = 0

/** The rules that a tree breaks, each once. */
const broken = async (tree: Tree, rules = options): Promise<string[]> => {
  const root = join(folder, String(++trees))
  await plant(root, tree)
  const roots = [...new Set(Object.keys(tree).map((path) => path.split('/')[0] ?? ''))]
  const { output } = await cruise(roots, { ...rules, validate: true, baseDir: root })
  return [...new Set((output as ICruiseResult).summary.violations.map((violation) => violation.rule.name))].sort()
}

const importing = (target: string): string => `import { part } from '${target}'\nexport const mine = part\n`
const importingType = (target: string): string =>
  `import type { part } from '${target}'\nexport type Mine = typeof part\n`

/** File, what it imports, and the one rule that this breaks. */
const forbidden: [from: string, to: string, rule: string][] = [
  ['src/kernel/digest.ts', '../ports/blob-store.ts', 'floor-kernel'],
  ['src/kernel/digest.ts', '../contract/operation.ts', 'floor-kernel'],
  ['src/contract/operation.ts', '../database/database.ts', 'floor-contract'],
  ['src/contract/operation.ts', '../http/pipeline.ts', 'floor-contract'],
  ['src/ports/vault.ts', '../contract/operation.ts', 'floor-ports'],
  ['src/ports/vault.ts', '../adapters/vault-s3/vault.ts', 'floor-ports'],
  ['src/database/database.ts', '../journal/append.ts', 'floor-database'],
  ['src/database/database.ts', '../ports/blob-store.ts', 'floor-database'],
  ['src/journal/repository/journal.ts', '../../jobs/enqueue.ts', 'floor-journal'],
  ['src/journal/repository/journal.ts', '../../ports/blob-store.ts', 'floor-journal'],
  ['src/jobs/lease.ts', '../journal/append.ts', 'floor-jobs'],
  ['src/jobs/lease.ts', '../features/lifecycle/space/jobs.ts', 'floor-jobs'],
  ['src/content/ingest/ingest.ts', '../../contract/operation.ts', 'floor-content'],
  ['src/content/ingest/ingest.ts', '../../jobs/enqueue.ts', 'floor-content'],
  ['src/content/ingest/ingest.ts', '../../adapters/blob-directory/store.ts', 'floor-content'],
  ['src/content/ingest/ingest.ts', '../../features/catalog/artifacts/artifacts.ts', 'floor-content'],
  ['src/http/pipeline/pipeline.ts', '../../database/database.ts', 'floor-http'],
  ['src/http/pipeline/pipeline.ts', '../../features/catalog/artifacts/handlers.ts', 'floor-http'],
  ['src/http/pipeline/pipeline.ts', '../../content/serve.ts', 'floor-http'],
  ['src/adapters/blob-s3/store.ts', '../blob-directory/store.ts', 'floor-adapters'],
  ['src/adapters/blob-s3/store.ts', '../../database/database.ts', 'floor-adapters'],
  ['src/adapters/blob-s3/store.ts', '../../content/ingest.ts', 'floor-adapters'],
  ['src/adapters/files/durable-file.ts', '../blob-directory/store.ts', 'floor-adapters'],
  ['src/adapters/blob-guarded.ts', './blob-s3/store.ts', 'floor-wrappers'],
  ['src/adapters/blob-guarded.ts', '../content/ingest.ts', 'floor-wrappers'],
  ['src/features/catalog/artifacts/artifacts.ts', '../../../ports/blob-store.ts', 'floor-features'],
  ['src/features/catalog/artifacts/artifacts.ts', '../../../adapters/blob-s3/store.ts', 'floor-features'],
  ['src/features/catalog/artifacts/artifacts.ts', '../../../http/pipeline.ts', 'floor-features'],
  ['src/features/catalog/artifacts/artifacts.ts', '../../../jobs/lease.ts', 'floor-features'],
  ['src/features/catalog/artifacts/artifacts.ts', '../../../protocols/oci/manifests.ts', 'floor-features'],
  ['src/features/catalog/artifacts/artifacts.ts', '../references/operations.ts', 'floor-features'],
  ['src/features/catalog/artifacts/artifacts.ts', '../references/handlers.ts', 'floor-features'],
  ['src/features/catalog/artifacts/artifacts.ts', '../references/jobs.ts', 'floor-features'],
  ['src/features/catalog/artifacts/artifacts.ts', '../references/references.queries.ts', 'floor-features'],
  ['src/features/catalog/artifacts/artifacts.ts', '../references/slice.ts', 'floor-features'],
  ['src/features/catalog/artifacts/artifacts.ts', '../references/checks.ts', 'floor-features'],
  ['src/features/catalog/artifacts/operations.ts', 'node:crypto', 'declarations-need-no-packages'],
  ['src/protocols/oci/vocabulary.ts', 'node:path', 'declarations-need-no-packages'],
  ['src/features/catalog/artifacts/handlers.ts', './artifacts.queries.ts', 'handlers-ask-rules'],
  ['test/fixtures/parcels/handlers.ts', '../../../src/http/server.ts', 'floor-added-slices'],
  ['src/features/catalog/artifacts/artifacts.ts', '../../identity/access/access.ts', 'neighbourhood-catalog'],
  ['src/features/identity/groups/groups.ts', '../../lifecycle/space/space.ts', 'neighbourhood-identity'],
  ['src/features/lifecycle/space/space.ts', '../../transfers/raw/raw.ts', 'neighbourhood-lifecycle'],
  ['src/features/transfers/raw/raw.ts', '../../operating/health/readiness.ts', 'neighbourhood-transfers'],
  ['src/features/operating/moving/capture.ts', '../../../adapters/vault-directory/vault.ts', 'floor-operating'],
  ['src/features/operating/moving/capture.ts', '../health/health.queries.ts', 'floor-operating'],
  ['src/features/operating/moving/capture.ts', '../../../http/pipeline.ts', 'floor-operating'],
  ['src/features/operating/moving/capture.ts', 'node:fs/promises', 'kept-files'],
  ['src/protocols/oci/manifests.ts', '../npm/packument.ts', 'floor-protocols'],
  ['src/protocols/oci/manifests.ts', '../../http/pipeline.ts', 'floor-protocols'],
  ['src/protocols/oci/manifests.ts', '../../features/transfers/uploads/uploads.queries.ts', 'floor-protocols'],
  ['src/protocols/oci/manifests.ts', '../../features/operating/health/health.ts', 'protocols-beside-operating'],
  ['src/kernel/digest.test.ts', '../content/ingest.ts', 'floor-kernel-tests'],
  ['src/features/catalog/artifacts/artifacts.test.ts', '../references/references.queries.ts', 'floor-features-tests'],
  ['src/adapters/blob-s3/store.test.ts', '../blob-directory/store.ts', 'floor-adapters-tests'],
  ['src/features/catalog/artifacts/operations.ts', './artifacts.ts', 'declarations-are-pure'],
  ['src/features/catalog/artifacts/vocabulary.ts', '../../../database/database.ts', 'declarations-are-pure'],
  ['bench/peers.ts', '../src/utilities/text.ts', 'known-floor'],
  ['bench/peers.ts', '../src/features/files/files/files.ts', 'known-neighbourhood'],
  ['bench/peers.ts', '../src/missing/text.ts', 'resolvable'],
  ['test/wire/push.test.ts', '../../src/kernel/digest.ts', 'wire-is-a-black-box'],
  ['src/adapters/blob-s3/store.ts', './store.test.ts', 'no-tests-in-sources'],
  ['src/adapters/blob-s3/store.ts', './blob-store.suite.ts', 'no-tests-in-sources'],
  ['src/main/svc.ts', '../../test/harness/service.ts', 'no-tests-in-sources'],
  ['src/main/svc.ts', '../../scripts/check.ts', 'no-tests-in-sources'],
  ['src/content/ingest/ingest.ts', 'fast-check', 'no-dev-packages-in-sources'],
  ['src/kernel/digest.ts', 'typebox', 'kernel-is-pure'],
  ['src/kernel/digest.ts', 'node:os', 'kernel-is-pure'],
  ['src/features/catalog/artifacts/artifacts.ts', 'kysely', 'kept-sql'],
  ['src/features/catalog/artifacts/handlers.ts', 'kysely', 'kept-sql'],
  ['src/main/roles/api.ts', 'kysely', 'kept-sql'],
  ['src/content/reclaim/reclaim.ts', 'pg', 'kept-engines'],
  ['src/content/reclaim/reclaim.ts', 'node:sqlite', 'kept-engines'],
  ['src/features/catalog/artifacts/handlers.ts', 'fastify', 'kept-http'],
  ['src/main/roles/api.ts', 'fastify', 'kept-http'],
  ['src/content/serve/serve.ts', '@aws-sdk/client-s3', 'kept-s3'],
  ['src/http/pipeline/pipeline.ts', 'commander', 'kept-command-line'],
  ['src/features/catalog/artifacts/artifacts.ts', 'node:fs', 'kept-files'],
  ['src/content/ingest/ingest.ts', 'node:fs/promises', 'kept-files'],
  ['src/contract/operation.ts', 'node:fs', 'kept-files'],
  ['src/http/pipeline/pipeline.ts', 'node:fs', 'kept-files'],
  ['src/features/operating/webhooks/webhooks.ts', 'node:https', 'kept-network'],
  ['src/features/operating/webhooks/webhooks.ts', 'undici', 'kept-network'],
  ['src/features/operating/webhooks/webhooks.ts', 'node:child_process', 'kept-processes'],
]

const allowed: [from: string, to: string][] = [
  ['src/kernel/ids.ts', 'node:crypto'],
  ['src/kernel/names.ts', './limits/http.ts'],
  ['src/contract/operation.ts', '../kernel/actions.ts'],
  ['src/database/database.ts', 'kysely'],
  ['src/database/sqlite/engine.ts', 'node:sqlite'],
  ['src/adapters/blob-directory/store.ts', 'node:fs/promises'],
  ['src/adapters/blob-directory/store.ts', '../../ports/blob-store.ts'],
  ['src/adapters/blob-directory/store.test.ts', '../../ports/blob-store.suite.ts'],
  ['src/adapters/blob-guarded.ts', '../ports/blob-store.ts'],
  ['src/adapters/blob-directory/store.ts', '../files/durable-file.ts'],
  ['src/journal/repository/journal.ts', '../../database/database.ts'],
  ['src/journal/repository/journal.queries.ts', 'kysely'],
  ['src/jobs/lease.ts', '../ports/outbound-http.ts'],
  ['src/content/ingest/ingest.ts', '../../journal/repository/journal.ts'],
  ['src/features/catalog/artifacts/artifacts.queries.ts', 'kysely'],
  ['src/features/catalog/artifacts/artifacts.ts', './artifacts.queries.ts'],
  ['src/features/catalog/artifacts/artifacts.ts', '../references/references.ts'],
  ['src/features/catalog/artifacts/artifacts.ts', '../../../jobs/enqueue.ts'],
  ['src/features/transfers/raw/raw.ts', '../../catalog/assets/assets.ts'],
  ['src/features/operating/moving/capture.ts', '../../../ports/vault.ts'],
  ['src/features/operating/moving/restore.ts', '../../catalog/search/entries.ts'],
  ['src/features/lifecycle/deletion/operations.ts', '../../catalog/artifacts/vocabulary.ts'],
  ['src/features/catalog/artifacts/operations.ts', '../../../contract/operation.ts'],
  ['src/features/catalog/artifacts/operations.ts', 'typebox'],
  ['src/features/catalog/artifacts/artifacts.test.ts', '../../../../test/harness/service.ts'],
  ['src/features/catalog/artifacts/artifacts.test.ts', '../../../main/roles/api.ts'],
  ['src/protocols/oci/manifests.ts', '../../content/ingest.ts'],
  ['src/http/pipeline/pipeline.ts', 'fastify'],
  ['src/main/roles/api.ts', '../../adapters/blob-s3/store.ts'],
  ['test/integration/uploads.test.ts', '../../src/kernel/digest.ts'],
  ['test/wire/push.test.ts', '../harness/postgres.ts'],
]

describe('the import table forbids', () => {
  for (const [from, to, rule] of forbidden) {
    test(`${from} importing ${to}`, async () => {
      assert.deepEqual(await broken({ [from]: importing(to) }), [rule])
    })
  }

  test('types that cross a floor', async () => {
    assert.deepEqual(await broken({ 'src/kernel/digest.ts': importingType('../ports/blob-store.ts') }), [
      'floor-kernel',
    ])
    assert.deepEqual(await broken({ 'src/kernel/digest.ts': `export type { part } from '../ports/blob-store.ts'\n` }), [
      'floor-kernel',
    ])
    assert.deepEqual(await broken({ 'src/features/catalog/artifacts/artifacts.ts': importingType('kysely') }), [
      'kept-sql',
    ])
  })

  test('imports made while running', async () => {
    const late = `export const load = () => import('../ports/blob-store.ts')\n`
    assert.deepEqual(await broken({ 'src/kernel/digest.ts': late }), ['floor-kernel'])
  })

  test('importing main from below', async () => {
    assert.deepEqual(await broken({ 'src/http/pipeline/pipeline.ts': importing('../../main/catalogue.ts') }), [
      'floor-http',
      'main-is-the-top',
    ])
  })

  test('circles, also of types alone', async () => {
    const circle = { 'src/kernel/one.ts': importingType('./two.ts'), 'src/kernel/two.ts': importingType('./one.ts') }
    assert.deepEqual(await broken(circle), ['no-circles'])
  })

  test('circles of slices, also where no file is in one', async () => {
    const circle = {
      'src/features/catalog/artifacts/artifacts.ts': importing('../assets/content.ts'),
      'src/features/catalog/assets/assets.ts': importing('../artifacts/views.ts'),
    }
    assert.deepEqual(await broken(circle), [])
    assert.deepEqual(await broken(circle, ofFolders), ['no-circles-of-slices'])
    const line = { 'src/features/catalog/assets/assets.ts': importing('../artifacts/views.ts') }
    assert.deepEqual(await broken(line, ofFolders), [])
  })

  test('circles of the rooms of a floor', async () => {
    const circle = {
      'src/content/claims/claims.ts': importing('../ingest/publishing.ts'),
      'src/content/ingest/ingest.ts': importing('../claims/claims.queries.ts'),
    }
    assert.deepEqual(await broken(circle), [])
    assert.deepEqual(await broken(circle, ofFolders), ['no-circles-of-rooms'])
    const elsewhere = {
      'src/database/moving/tables.ts': importing('../integrity/checks.ts'),
      'src/database/integrity/relations.ts': importing('../moving/moving.ts'),
    }
    assert.deepEqual(await broken(elsewhere, ofFolders), ['no-circles-of-rooms'])
  })

  test('wire tests that reach src through the harness', async () => {
    const detour = {
      'test/wire/push.test.ts': importing('../harness/service.ts'),
      'test/harness/service.ts': importing('../../src/main/svc.ts'),
    }
    assert.deepEqual(await broken(detour), ['wire-is-a-black-box'])
  })
})

describe('the import table allows', () => {
  for (const [from, to] of allowed) {
    test(`${from} importing ${to}`, async () => {
      assert.deepEqual(await broken({ [from]: importing(to) }), [])
    })
  }
})

test('every rule is proven above', () => {
  const elsewhere = ['main-is-the-top', 'no-circles']
  const proven = new Set([...forbidden.map(([, , rule]) => rule), ...elsewhere])
  const named = (options.ruleSet?.forbidden ?? []).map((rule) => rule.name ?? '')
  // The row for tests has the same form on every floor; three of them are proven.
  assert.deepEqual(
    named.filter((name) => !proven.has(name) && !name.endsWith('-tests')),
    [],
  )
})
