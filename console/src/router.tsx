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
  validateSearch: texts('rev', 'with', 'tab'),
  component: lazyRouteComponent(() => import('./pages/file.tsx'), 'File'),
})
const artifacts = createRoute({
  getParentRoute: () => repository,
  path: '/artifacts',
  validateSearch: texts('q', 'label', 'order', 'view'),
  component: lazyRouteComponent(() => import('./pages/artifacts.tsx'), 'Artifacts'),
})
const artifact = createRoute({
  getParentRoute: () => repository,
  path: '/artifacts/$id',
  validateSearch: texts('tab'),
  component: lazyRouteComponent(() => import('./pages/artifact.tsx'), 'Artifact'),
})
const transfers = createRoute({
  getParentRoute: () => root,
  path: '/transfers',
  component: lazyRouteComponent(() => import('./pages/transfers.tsx'), 'Transfers'),
})
const me = createRoute({
  getParentRoute: () => root,
  path: '/me',
  component: lazyRouteComponent(() => import('./pages/me.tsx'), 'Me'),
})

const tree = root.addChildren([
  home,
  search,
  repositories,
  repository.addChildren([repositoryIndex, files, file, artifacts, artifact]),
  transfers,
  me,
])

/** Where the console lies. Typed without its slash, the address is that of a file beside it. */
const settledBase = (): string => {
  const { pathname } = new URL(document.baseURI)
  if (`${location.pathname}/` === pathname) history.replaceState(null, '', pathname + location.search)
  return pathname
}

export const router = createRouter({
  routeTree: tree,
  basepath: settledBase(),
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
