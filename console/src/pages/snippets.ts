import { serviceAddress } from '../contract/call.ts'

export const clients = ['curl', 'docker', 'npm', 'lfs', 'github', 'gitlab'] as const
export type Client = (typeof clients)[number]

/** The address of the service as somebody types it, without a slash at its end. */
const baseUrl = (): string => serviceAddress().href.replace(/\/$/, '')
const host = (): string => serviceAddress().host

/** Clients of images know a host and no path. */
export const isBelowPath = (): boolean => serviceAddress().pathname !== '/'

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** Stores a file by its path. */
export const rawCommand = (repository: string, folder: string): string =>
  [
    'export SVC_TOKEN=…',
    'curl -fsS -H "Authorization: Bearer $SVC_TOKEN" -T hello.txt \\',
    `  '${baseUrl()}/api/v1/repositories/${repository}/raw/${encoded(folder)}hello.txt'`,
  ].join('\n')

export const imageCommand = (repository: string): string =>
  [
    'export SVC_TOKEN=…',
    `printf %s "$SVC_TOKEN" | docker login --username anybody --password-stdin ${host()}`,
    `docker tag hello ${host()}/${repository}/hello:1.0 && docker push ${host()}/${repository}/hello:1.0`,
  ].join('\n')

const registry = (repository: string): string => `${baseUrl()}/npm/${repository}/`

export const npmCommand = (repository: string): string =>
  [
    'export SVC_TOKEN=…',
    `npm config set '${registry(repository).replace(/^https?:/, '')}:_authToken' "$SVC_TOKEN"`,
    `npm publish --registry '${registry(repository)}'`,
  ].join('\n')

export const lfsCommand = (repository: string): string =>
  [
    `git config -f .lfsconfig lfs.url '${baseUrl()}/lfs/${repository}'`,
    'git lfs install --local && git lfs track "*.bin"',
    'git push',
  ].join('\n')

const line = (token: string | null): string => `export SVC_TOKEN='${token ?? '…'}'`

/** One block for a terminal or a file of a build server, which works as it is pasted. */
export const snippet = (client: Client, repository: string, token: string | null): string => {
  const file = `${baseUrl()}/api/v1/repositories/${repository}/raw/hello/world.txt`
  switch (client) {
    case 'curl':
      return [
        line(token),
        `echo 'Hello, world' | curl -fsS -H "Authorization: Bearer $SVC_TOKEN" -T - '${file}'`,
        `curl -fsS -H "Authorization: Bearer $SVC_TOKEN" '${file}'`,
      ].join('\n')
    case 'docker':
      return [
        line(token),
        `printf %s "$SVC_TOKEN" | docker login --username anybody --password-stdin ${host()}`,
        `docker tag hello ${host()}/${repository}/hello:1.0`,
        `docker push ${host()}/${repository}/hello:1.0`,
      ].join('\n')
    case 'npm':
      return [
        line(token),
        `npm config set '${registry(repository).replace(/^https?:/, '')}:_authToken' "$SVC_TOKEN"`,
        `npm config set registry '${registry(repository)}'`,
        `npm ping --registry '${registry(repository)}'`,
      ].join('\n')
    case 'lfs': {
      const url = serviceAddress()
      return [
        line(token),
        `git config -f .lfsconfig lfs.url '${baseUrl()}/lfs/${repository}'`,
        'git config credential.helper store',
        `printf 'protocol=${url.protocol.replace(':', '')}\\nhost=${url.host}\\nusername=anybody\\npassword=%s\\n\\n' "$SVC_TOKEN" | git credential approve`,
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
        `            "${baseUrl()}/api/v1/repositories/${repository}/raw/$GITHUB_REPOSITORY/$GITHUB_SHA/README.md"`,
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
        `        "${baseUrl()}/api/v1/repositories/${repository}/raw/$CI_PROJECT_PATH/$CI_COMMIT_SHA/README.md"`,
      ].join('\n')
    default:
      return client satisfies never
  }
}

/** Whoever uses a key activates it, so that a secret that got lost on its way is none. */
export const activation = (): string =>
  `curl -fsS -X POST -H "Authorization: Bearer $SVC_TOKEN" '${baseUrl()}/api/v1/auth/activate-key'`
