/**
 * Who may import whom. The table stands in ARCHITECTURE.md; this file is the same table for the machine, and
 * `scripts/check/import-table.test.ts` proves that every rule bites. Type imports count like any other.
 *
 * A floor may import itself, what its row names, and packages (apart from those that the rules below keep in one
 * place). On the floors of protocols and adapters each folder stands for itself, and on that of features each folder of
 * a neighbourhood: it may import itself, but its neighbours only where the row says so.
 */

const tests = '\\.(test|suite)\\.ts$'

/** What a slice keeps to itself: declarations, handlers, SQL, jobs, checks and its value. What is left is its rules, `<noun>.ts`. */
const rulesOfFeatures = '^src/features/[^/]+/[^/]+/(?!(?:operations|handlers|jobs|checks|slice)\\.ts$)[^/.]+\\.ts$'
const enqueue = '^src/jobs/(?:enqueue|job)\\.ts$'
const slice = ['kernel', 'contract', 'database', 'journal', 'content', enqueue, rulesOfFeatures]

const floors = {
  kernel: [],
  contract: ['kernel'],
  ports: ['kernel'],
  database: ['kernel'],
  journal: ['kernel', 'database'],
  jobs: ['kernel', 'database', 'ports'],
  content: ['kernel', 'ports', 'database', 'journal'],
  http: ['kernel', 'contract'],
}

/** What several adapters do with files. */
const sharedFiles = '^src/adapters/files/'

const slices = {
  adapters: ['ports', 'kernel', sharedFiles],
  protocols: [...slice, 'ports'],
}

/** What features do, each on those left of it. */
const neighbourhoods = ['catalog', 'identity', 'lifecycle', 'transfers', 'operating']

const paths = (names) => names.map((name) => (name.startsWith('^') ? name : `^src/${name}/`))
const inWords = (names) =>
  names
    .map(
      (name) =>
        ({
          [enqueue]: 'jobs/enqueue.ts',
          [rulesOfFeatures]: 'the rules (<noun>.ts) of features',
          [sharedFiles]: 'adapters/files',
        })[name] ?? name,
    )
    .join(', ') || 'nothing'

/** Tests obey the row of the floor that they stand on, and may also start the whole service. */
const forTests = ['^src/main/', '^test/harness/']

/** One row of the table: an error for sources and one, with more freedom, for the tests beside them. */
const row = (floor, from, own, allowed) => {
  const comment = `${floor} may import: ${inWords(allowed)}.`
  const within = '^(?:src|test|bench|scripts)/'
  return [
    {
      name: `floor-${floor}`,
      severity: 'error',
      comment,
      from: { path: from, pathNot: tests },
      to: { path: within, pathNot: [own, ...paths(allowed)] },
    },
    {
      name: `floor-${floor}-tests`,
      severity: 'error',
      comment: `${comment} Tests also: main, test/harness.`,
      from: { path: `${from}.*${tests}` },
      to: { path: within, pathNot: [own, ...paths(allowed), ...forTests] },
    },
  ]
}

/** A package or a built-in module that has its place. Tests are free to use it. */
const kept = (name, target, places, comment) => ({
  name: `kept-${name}`,
  severity: 'error',
  comment,
  from: { path: '^src/', pathNot: [tests, ...places] },
  to: { path: target },
})

const builtIn = (...names) => `^(?:node:)?(?:${names.join('|')})(?:/|$)`
const fromPackage = (name) => `(?:^|/)node_modules/(?:@types/)?${name}/|^${name}(?:/|$)`

export default {
  forbidden: [
    ...Object.entries(floors).flatMap(([floor, allowed]) => row(floor, `^src/${floor}/`, `^src/${floor}/`, allowed)),
    ...Object.entries(slices).flatMap(([floor, allowed]) =>
      row(floor, `^src/${floor}/([^/]+)/`, `^src/${floor}/$1/`, allowed),
    ),
    ...row('features', '^src/features/((?!operating/)[^/]+)/([^/]+)/', '^src/features/$1/$2/', slice),
    ...row('operating', '^src/features/operating/([^/]+)/', '^src/features/operating/$1/', [...slice, 'ports']),
    ...neighbourhoods.slice(0, -1).map((name, index) => ({
      name: `neighbourhood-${name}`,
      severity: 'error',
      comment: `Neighbourhoods stand on those left of them: ${neighbourhoods.join(' <- ')}.`,
      from: { path: `^src/features/${name}/`, pathNot: tests },
      to: { path: `^src/features/(?:${neighbourhoods.slice(index + 1).join('|')})/` },
    })),
    {
      name: 'protocols-beside-operating',
      severity: 'error',
      comment: 'Protocols stand on all neighbourhoods of features but operating.',
      from: { path: '^src/protocols/', pathNot: tests },
      to: { path: '^src/features/operating/' },
    },
    {
      name: 'declarations-are-pure',
      severity: 'error',
      comment:
        'Declarations (operations.ts, vocabulary.ts) import contract, kernel and vocabulary alone, so that anybody may import them.',
      from: { path: '^src/(?:features|protocols)/.*/(?:operations|vocabulary)\\.ts$' },
      to: { path: '^src/', pathNot: '^src/(?:kernel|contract)/|/vocabulary\\.ts$' },
    },
    {
      name: 'declarations-need-no-packages',
      severity: 'error',
      comment:
        'Declarations (operations.ts, vocabulary.ts) are data: of packages they import typebox, which describes it.',
      from: { path: '^src/(?:features|protocols)/.*/(?:operations|vocabulary)\\.ts$' },
      to: { dependencyTypes: ['core', 'npm', 'npm-dev', 'npm-no-pkg', 'npm-unknown'], pathNot: '/typebox/' },
    },
    {
      name: 'handlers-ask-rules',
      severity: 'error',
      comment: 'A handler unwraps, calls and wraps: it asks rules, and rules ask the database.',
      from: { path: '^src/(?:features|protocols)/.*/handlers\\.ts$' },
      to: { path: '\\.queries\\.ts$' },
    },
    {
      name: 'known-neighbourhood',
      severity: 'error',
      comment: `A slice stands in one of the neighbourhoods: ${neighbourhoods.join(', ')}.`,
      from: {},
      to: { path: '^src/features/', pathNot: `^src/features/(?:${neighbourhoods.join('|')})/[^/]+/` },
    },
    // Wrappers around a port stand beside the adapters, in files of their own.
    ...row('wrappers', '^src/adapters/[^/]+\\.ts$', '^$', slices.adapters).slice(0, 1),
    {
      name: 'kernel-is-pure',
      severity: 'error',
      comment: 'kernel imports no package and no built-in module but node:crypto: it is words, not effects.',
      from: { path: '^src/kernel/', pathNot: tests },
      to: { pathNot: ['^(?:src|test|bench|scripts)/', '^(?:node:)?crypto$'] },
    },
    // Slices that tests add stand where a protocol of others stands.
    ...row('added-slices', '^test/fixtures/([^/]+)/', '^test/fixtures/$1/', slice).slice(0, 1),
    {
      name: 'main-is-the-top',
      severity: 'error',
      comment: 'Nothing imports main, which puts the parts together. Only tests start the whole service.',
      from: { path: '.', pathNot: ['^src/main/', '^(?:test|bench|scripts)/', tests] },
      to: { path: '^src/main/' },
    },
    {
      name: 'known-floor',
      severity: 'error',
      comment: 'This folder has no row in the import table. Add one to .dependency-cruiser.mjs and ARCHITECTURE.md.',
      from: {},
      to: {
        path: '^src/',
        pathNot: `^src/(?:main|features|${[...Object.keys(floors), ...Object.keys(slices)].join('|')})/`,
      },
    },
    {
      name: 'no-circles',
      severity: 'error',
      comment: 'Modules that import each other in a circle, types included, have no order in which to read them.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-tests-in-sources',
      severity: 'error',
      comment: 'What is shipped imports no test, no suite, no harness, no benchmark and no script.',
      from: { path: '^src/', pathNot: tests },
      to: { path: [tests, '^(?:test|bench|scripts)/'] },
    },
    {
      name: 'wire-is-a-black-box',
      severity: 'error',
      comment: 'Wire tests speak to the service from outside: nothing that they import leads to src.',
      from: { path: '^test/wire/' },
      to: { path: '^src/', reachable: true },
    },
    {
      name: 'resolvable',
      severity: 'error',
      comment: 'There is no such module.',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-dev-packages-in-sources',
      severity: 'error',
      comment: 'What is shipped imports only packages listed under "dependencies" (types of "devDependencies" aside).',
      from: { path: '^src/', pathNot: tests },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    kept(
      'sql',
      fromPackage('kysely'),
      ['\\.queries\\.ts$', '^src/database/'],
      'SQL stands in *.queries.ts and database/ only. A transaction is named by a type import of database/database.ts.',
    ),
    kept(
      'engines',
      `${fromPackage('pg')}|${builtIn('sqlite')}`,
      ['^src/database/'],
      'Only database/ knows its engines.',
    ),
    kept('http', fromPackage('(?:fastify|@fastify/[^/]+)'), ['^src/http/'], 'Only http/ knows Fastify.'),
    kept('s3', fromPackage('@aws-sdk/[^/]+'), ['^src/adapters/'], 'Only adapters know the object store.'),
    kept('command-line', fromPackage('commander'), ['^src/main/'], 'Only main reads the command line.'),
    kept(
      'files',
      builtIn('fs'),
      ['^src/(?:adapters|database|main)/'],
      'Files are opened by adapters, database and main; everyone else asks a port.',
    ),
    kept(
      'network',
      `${builtIn('net', 'tls', 'dns', 'dgram', 'http', 'https', 'http2')}|${fromPackage('undici')}`,
      ['^src/(?:adapters|http|main)/'],
      'Connections are opened by adapters and taken by http; everyone else asks a port.',
    ),
    kept(
      'processes',
      builtIn('child_process', 'cluster'),
      ['^src/(?:adapters|main)/'],
      'Only adapters and main start processes.',
    ),
  ],
  options: {
    // TypeScript 7 has no API that dependency-cruiser could use; swc parses the same syntax, types included.
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(?:dist|data|docs|deploy)/' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.mjs', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
    skipAnalysisNotInRules: false,
  },
}
