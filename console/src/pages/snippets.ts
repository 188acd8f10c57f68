import { serviceAddress } from '../contract/call.ts'
import { shellWord } from '../values/shell.ts'

export const clients = ['curl', 'docker', 'npm', 'lfs', 'github', 'gitlab'] as const
export type Client = (typeof clients)[number]

/** The address of the service as somebody types it, without a slash at its end. */
const baseUrl = (): string => serviceAddress().href.replace(/\/$/, '')
const host = (): string => serviceAddress().host

/** Clients of images know a host and no path. */
export const isBelowPath = (): boolean => serviceAddress().pathname !== '/'

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** The address of what is stored by its path. */
const rawUrl = (repository: string, path: string): string =>
  `${baseUrl()}/api/v1/repositories/${encodeURIComponent(repository)}/raw/${encoded(path)}`

/** Stores a file by its path. */
export const rawCommand = (repository: string, folder: string): string =>
  [
    'export SVC_TOKEN=…',
    'curl -fsS -H "Authorization: Bearer $SVC_TOKEN" -T hello.txt \\',
    `  ${shellWord(rawUrl(repository, `${folder}hello.txt`))}`,
  ].join('\n')

/** Signs in, and pushes an image there. */
const imageLines = (repository: string): string[] => {
  const image = shellWord(`${host()}/${repository}/hello:1.0`)
  return [
    `printf %s "$SVC_TOKEN" | docker login --username anybody --password-stdin ${shellWord(host())}`,
    `docker tag hello ${image}`,
    `docker push ${image}`,
  ]
}

export const imageCommand = (repository: string): string => ['export SVC_TOKEN=…', ...imageLines(repository)].join('\n')

const registry = (repository: string): string => `${baseUrl()}/npm/${encodeURIComponent(repository)}/`

/** npm reads a token by the address of its registry, without the scheme. */
const npmTokenLine = (repository: string): string =>
  `npm config set ${shellWord(`${registry(repository).replace(/^https?:/, '')}:_authToken`)} "$SVC_TOKEN"`

export const npmCommand = (repository: string): string =>
  ['export SVC_TOKEN=…', npmTokenLine(repository), `npm publish --registry ${shellWord(registry(repository))}`].join(
    '\n',
  )

const lfsLine = (repository: string): string =>
  `git config -f .lfsconfig lfs.url ${shellWord(`${baseUrl()}/lfs/${encodeURIComponent(repository)}`)}`

export const lfsCommand = (repository: string): string =>
  [lfsLine(repository), 'git lfs install --local && git lfs track "*.bin"', 'git push'].join('\n')

const line = (token: string | null): string => `export SVC_TOKEN=${shellWord(token ?? '…')}`

/**
 * One block for a terminal or a file of a build server, which works as it is pasted. Addresses have no line break and no
 * brace, so that a block of YAML stays one and GitHub finds nothing to fill in; the shells below are those of any block.
 */
export const snippet = (client: Client, repository: string, token: string | null): string => {
  const file = shellWord(rawUrl(repository, 'hello/world.txt'))
  switch (client) {
    case 'curl':
      return [
        line(token),
        `echo 'Hello, world' | curl -fsS -H "Authorization: Bearer $SVC_TOKEN" -T - ${file}`,
        `curl -fsS -H "Authorization: Bearer $SVC_TOKEN" ${file}`,
      ].join('\n')
    case 'docker':
      return [line(token), ...imageLines(repository)].join('\n')
    case 'npm':
      return [
        line(token),
        npmTokenLine(repository),
        `npm config set registry ${shellWord(registry(repository))}`,
        `npm ping --registry ${shellWord(registry(repository))}`,
      ].join('\n')
    case 'lfs': {
      const url = serviceAddress()
      const its = [url.protocol.replace(':', ''), url.host].map(shellWord).join(' ')
      return [
        line(token),
        lfsLine(repository),
        'git config credential.helper store',
        `printf 'protocol=%s\\nhost=%s\\nusername=anybody\\npassword=%s\\n\\n' ${its} "$SVC_TOKEN" | git credential approve`,
        "git lfs install --local && git lfs track '*.bin'",
      ].join('\n')
    }
    case 'github':
      return [
        '# The secret SVC_TOKEN of the repository holds the token.',
        'name: publish',
        'on: push',
        'jobs:',
        '  publish:',
        '    runs-on: ubuntu-latest',
        '    steps:',
        '      - uses: actions/checkout@v4',
        '      - run: |',
        '          curl -fsS -H "Authorization: Bearer $SVC_TOKEN" -T README.md \\',
        `            ${shellWord(rawUrl(repository, ''))}"$GITHUB_REPOSITORY/$GITHUB_SHA/README.md"`,
        '        env:',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the build server fills it in
        '          SVC_TOKEN: ${{ secrets.SVC_TOKEN }}',
      ].join('\n')
    case 'gitlab':
      return [
        '# The masked variable SVC_TOKEN of the project holds the token.',
        'publish:',
        '  image: curlimages/curl',
        '  script:',
        '    - |',
        '      curl -fsS -H "Authorization: Bearer $SVC_TOKEN" -T README.md \\',
        `        ${shellWord(rawUrl(repository, ''))}"$CI_PROJECT_PATH/$CI_COMMIT_SHA/README.md"`,
      ].join('\n')
    default:
      return client satisfies never
  }
}

/** Whoever uses a key activates it, so that a secret that got lost on its way is none. */
export const activation = (): string =>
  `curl -fsS -X POST -H "Authorization: Bearer $SVC_TOKEN" ${shellWord(`${baseUrl()}/api/v1/auth/activate-key`)}`
