import table from './.dependency-cruiser.mjs'

/**
 * The same of folders: slices that import each other in a circle are one slice, or something of theirs stands in the
 * wrong one. Tests are left out, for they may start the whole service.
 */
export default {
  forbidden: [
    {
      name: 'no-circles-of-slices',
      severity: 'error',
      comment: 'Slices import each other in a circle: they are one slice, or something stands in the wrong one.',
      scope: 'folder',
      from: { path: '^src/features/[^/]+/[^/]+$' },
      to: { path: '^src/features/[^/]+/[^/]+$', circular: true },
    },
    {
      name: 'no-circles-of-rooms',
      severity: 'error',
      comment:
        'Rooms of a floor import each other in a circle: they are one room, or something stands in the wrong one.',
      scope: 'folder',
      from: { path: '^src/(?!features/)[^/]+/[^/]+$' },
      to: { path: '^src/(?!features/)[^/]+/[^/]+$', circular: true },
    },
  ],
  options: { ...table.options, exclude: { path: '^(?:test|dist|data)/|\\.(test|suite)\\.ts$' } },
}
