import { html, type Markup } from '../../../contract/pages/markup.ts'
import { pathAt } from '../../../contract/pages/page.ts'

/** What is said under a heading: sentences, what to type, and paths of the service to look at, with what they are. */
interface Section {
  readonly title: string
  readonly says: string
  readonly type?: readonly string[]
  readonly see?: readonly (readonly [path: string, what: string])[]
}

export const sentence = (baseUrl: string): string =>
  `This is an artifact repository: it keeps the files that a team ships, under paths, with every revision. It runs, and is reached at ${baseUrl}.`

/** The same for everybody: nothing in it depends on what is stored or on who asks. */
export const sections = (baseUrl: string, hasConsole: boolean): readonly Section[] => {
  const file = '"$SVC_URL/api/v1/repositories/releases/raw/hello/world.txt"'
  const token = '-H "Authorization: Bearer $SVC_TOKEN"'
  return [
    ...(hasConsole ? [consoleSection] : []),
    {
      title: 'Sign in',
      says: 'In a checkout of svc, after npm ci: with the name and the password that an administrator gave you.',
      type: [
        'svc() { npm run --silent svc -- "$@"; }',
        `svc login '${baseUrl}'`,
        `export SVC_URL='${baseUrl}' SVC_TOKEN="$(svc token)"`,
      ],
    },
    {
      title: 'Store a first file, and fetch it',
      says: 'By its path, in a repository in which you may write.',
      type: [`echo 'Hello, world' | curl -fsS ${token} -T - ${file}`, `curl -fsS ${token} ${file}`],
    },
    ...imageSection(baseUrl),
    {
      title: 'Does it serve requests?',
      says: 'It says ready, or why not.',
      see: [['/health/status', 'how it is now']],
    },
    {
      title: 'For programs',
      says: 'The interface is JSON below /api/v1, with a credential in each request, for its own description as well.',
      see: [
        ['/api/v1/openapi.json', 'its description (OpenAPI)'],
        ['/api/v1/operations', 'the operations, and which of them you may call'],
      ],
    },
    {
      title: 'For whoever runs it',
      says: 'Guides are in docs/ of the checkout: start with README.md and docs/operating/. The first account is made on the machine itself:',
      type: ['svc user add owner --generate', 'svc status'],
    },
  ]
}

const consoleSection: Section = {
  title: 'In a browser',
  says: 'The console shows what is stored, takes files, and says how each client is set up.',
  see: [['/console/', 'sign in there']],
}

/** Clients of images know a host and no path: below one, nothing is promised to them. */
const imageSection = (baseUrl: string): readonly Section[] => {
  const { host, pathname } = new URL(baseUrl)
  if (pathname !== '/') return []
  return [
    {
      title: 'Push a container image',
      says: 'By docker or podman, in a repository in which you may write. The user name is not looked at; the password is the token.',
      type: [
        `printf %s "$SVC_TOKEN" | docker login --username anybody --password-stdin ${host}`,
        `docker tag hello ${host}/releases/hello:1.0 && docker push ${host}/releases/hello:1.0`,
      ],
    },
  ]
}

export const asMarkup = (first: string, told: readonly Section[], baseUrl: string): Markup => html`<h1>svc</h1>
<p>${first}</p>
${told.map(
  ({ title, says, type = [], see = [] }) => html`<h2>${title}</h2>
<p>${says}</p>
${type.length === 0 ? '' : html`<pre>${type.join('\n')}</pre>`}
${see.map(([path, what]) => html`<p><a href="${pathAt(baseUrl, path)}">${path}</a>: ${what}</p>`)}`,
)}`

export const asText = (first: string, told: readonly Section[], baseUrl: string): string =>
  [
    first,
    ...told.map(({ title, says, type = [], see = [] }) =>
      [
        `${title}: ${says}`,
        ...type.map((line) => `  ${line}`),
        ...see.map(([path, what]) => `  ${baseUrl}${path}  (${what})`),
      ].join('\n'),
    ),
    '',
  ].join('\n\n')
