import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { Crashed } from './shell/crashed.tsx'
import { NotFound } from './shell/not-found.tsx'
import { Shell } from './shell/shell.tsx'

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound })

/** Of the filters of a page those that are texts; the rest of an address is passed over. */
const texts =
  <const Names extends readonly string[]>(...names: Names) =>
  (search: Record<string, unknown>): { [Name in Names[number]]?: string } => {
    const found: Record<string, string> = {}
    for (const name of names) {
      const value = search[name]
      if (typeof value === 'string' && value !== '') found[name] = value
      else if (typeof value === 'number' || typeof value === 'boolean') found[name] = String(value)
    }
    return found as { [Name in Names[number]]?: string }
  }

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/home.tsx'), 'Home'),
})
const search = createRoute({
  getParentRoute: () => root,
  path: '/search',
  validateSearch: texts('q', 'label', 'sha256', 'collection', 'order', 'in'),
  component: lazyRouteComponent(() => import('./pages/search.tsx'), 'Search'),
})
const repositories = createRoute({
  getParentRoute: () => root,
  path: '/r',
  validateSearch: texts('filter'),
  component: lazyRouteComponent(() => import('./pages/repositories.tsx'), 'Repositories'),
})
const repository = createRoute({
  getParentRoute: () => root,
  path: '/r/$repository',
  component: lazyRouteComponent(() => import('./pages/repository.tsx'), 'Repository'),
})
const repositoryIndex = createRoute({
  getParentRoute: () => repository,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ to: '/r/$repository/files/$', params: { ...params, _splat: '' }, replace: true })
  },
})
const files = createRoute({
  getParentRoute: () => repository,
  path: '/files/$',
  validateSearch: texts('view', 'prefix'),
  component: lazyRouteComponent(() => import('./pages/files.tsx'), 'Files'),
})
const file = createRoute({
  getParentRoute: () => repository,
  path: '/file/$',
  validateSearch: texts('rev', 'with', 'tab', 'from'),
  component: lazyRouteComponent(() => import('./pages/file/file.tsx'), 'File'),
})
const artifacts = createRoute({
  getParentRoute: () => repository,
  path: '/artifacts',
  validateSearch: texts('q', 'label', 'order', 'view', 'day'),
  component: lazyRouteComponent(() => import('./pages/artifacts.tsx'), 'Artifacts'),
})
const artifact = createRoute({
  getParentRoute: () => repository,
  path: '/artifacts/$id',
  validateSearch: texts('tab'),
  component: lazyRouteComponent(() => import('./pages/artifact/artifact.tsx'), 'Artifact'),
})
const packages = createRoute({
  getParentRoute: () => repository,
  path: '/packages',
  validateSearch: texts('name', 'group', 'version', 'direction', 'range', 'stage'),
  component: lazyRouteComponent(() => import('./pages/packages.tsx'), 'Packages'),
})
const images = createRoute({
  getParentRoute: () => repository,
  path: '/images',
  validateSearch: texts('contains', 'image', 'reference', 'order', 'tab'),
  component: lazyRouteComponent(() => import('./pages/images/images.tsx'), 'Images'),
})
const npm = createRoute({
  getParentRoute: () => repository,
  path: '/npm',
  validateSearch: texts('contains', 'package', 'version', 'tab'),
  component: lazyRouteComponent(() => import('./pages/npm/npm.tsx'), 'Npm'),
})
const lfs = createRoute({
  getParentRoute: () => repository,
  path: '/lfs',
  component: lazyRouteComponent(() => import('./pages/lfs.tsx'), 'Lfs'),
})
const stages = createRoute({
  getParentRoute: () => repository,
  path: '/stages',
  validateSearch: texts('stage', 'id'),
  component: lazyRouteComponent(() => import('./pages/stages.tsx'), 'Stages'),
})
const activity = createRoute({
  getParentRoute: () => repository,
  path: '/activity',
  validateSearch: texts('kind', 'who', 'what', 'about', 'since', 'until', 'order'),
  component: lazyRouteComponent(() => import('./pages/activity.tsx'), 'Activity'),
})
const storage = createRoute({
  getParentRoute: () => repository,
  path: '/storage',
  validateSearch: texts('tab'),
  component: lazyRouteComponent(() => import('./pages/storage/storage.tsx'), 'Storage'),
})
const settings = createRoute({
  getParentRoute: () => repository,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings/settings.tsx'), 'Settings'),
})
const transfers = createRoute({
  getParentRoute: () => root,
  path: '/transfers',
  component: lazyRouteComponent(() => import('./pages/transfers.tsx'), 'Transfers'),
})
const connect = createRoute({
  getParentRoute: () => root,
  path: '/connect',
  validateSearch: texts('client', 'repository'),
  component: lazyRouteComponent(() => import('./pages/connect.tsx'), 'Connect'),
})
const access = createRoute({
  getParentRoute: () => root,
  path: '/access',
  validateSearch: texts('tab', 'repository', 'who', 'action'),
  component: lazyRouteComponent(() => import('./pages/access/access.tsx'), 'Access'),
})
const service = createRoute({
  getParentRoute: () => root,
  path: '/access/services/$id',
  component: lazyRouteComponent(() => import('./pages/access/service.tsx'), 'Service'),
})
const system = createRoute({
  getParentRoute: () => root,
  path: '/system',
  validateSearch: texts('tab', 'order', 'who', 'what', 'since', 'until'),
  component: lazyRouteComponent(() => import('./pages/system.tsx'), 'System'),
})
const backups = createRoute({
  getParentRoute: () => root,
  path: '/system/backups',
  component: lazyRouteComponent(() => import('./pages/backups/backups.tsx'), 'Backups'),
})
const point = createRoute({
  getParentRoute: () => root,
  path: '/system/backups/$id',
  validateSearch: texts('name', 'repository', 'kind'),
  component: lazyRouteComponent(() => import('./pages/backups/point.tsx'), 'Point'),
})
const me = createRoute({
  getParentRoute: () => root,
  path: '/me',
  component: lazyRouteComponent(() => import('./pages/me/me.tsx'), 'Me'),
})

const tree = root.addChildren([
  home,
  search,
  repositories,
  repository.addChildren([
    repositoryIndex,
    files,
    file,
    artifacts,
    artifact,
    packages,
    images,
    npm,
    lfs,
    stages,
    activity,
    storage,
    settings,
  ]),
  transfers,
  connect,
  access,
  service,
  system,
  backups,
  point,
  me,
])

/** Texts as they are: `1.0` is a tag, and not a number. */
const stringifySearch = (search: Readonly<Record<string, unknown>>): string => {
  const said = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(said.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

/** Where the console lies. Typed without its slash, the address is that of a file beside it. */
const settledBase = (): string => {
  const { pathname } = new URL(document.baseURI)
  if (`${location.pathname}/` === pathname) history.replaceState(null, '', pathname + location.search)
  return pathname
}

export const router = createRouter({
  routeTree: tree,
  basepath: settledBase(),
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch,
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultErrorComponent: Crashed,
  defaultNotFoundComponent: NotFound,
  trailingSlash: 'preserve',
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
