/** Outline icons of our own on a grid of 24, drawn in the manner of Tabler's; always beside a text or with a name. */
const paths = {
  home: 'M4 11l8-7 8 7M6 10v10h12V10M10 20v-6h4v6',
  box: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5',
  transfers: 'M8 20V5M4 9l4-4 4 4M16 4v15M12 15l4 4 4-4',
  plug: 'M9 3v5M15 3v5M6 8h12v3a6 6 0 01-12 0zM12 17v4',
  people:
    'M9 11a3.5 3.5 0 100-7 3.5 3.5 0 000 7zM3 20v-1a5 5 0 015-5h2a5 5 0 015 5v1M16 4.3a3.5 3.5 0 010 6.5M18 14.4a5 5 0 013 4.6v1',
  gauge: 'M4 19a9 9 0 1116 0M12 14l4-5M12 15.5a1.5 1.5 0 100-3 1.5 1.5 0 000 3z',
  key: 'M14.5 9.5a4.5 4.5 0 10-4 4.47L12 15.5h2v2h2v2h4v-4l-5.6-5.6z',
  search: 'M10.5 17a6.5 6.5 0 100-13 6.5 6.5 0 000 13zM15.5 15.5L21 21',
  folder:
    'M3 6.5A1.5 1.5 0 014.5 5H9l2.5 3h8A1.5 1.5 0 0121 9.500V18a1.500 1.500 0 01-1.500 1.500h-15A1.500 1.500 0 013 18z',
  file: 'M13 3H7a2 2 0 00-2 2v14a2 2 0 002 2h10a2 2 0 002-2V9zM13 3v6h6',
  tag: 'M4 4h7l9 9-7 7-9-9zM8 8h.01',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  check: 'M5 13l4.500 4.500L19 7',
  cross: 'M6 6l12 12M18 6L6 18',
  plus: 'M12 5v14M5 12h14',
  dots: 'M5 12h.01M12 12h.01M19 12h.01',
  down: 'M6 9l6 6 6-6',
  right: 'M9 6l6 6-6 6',
  left: 'M15 6l-6 6 6 6',
  download: 'M12 4v11M7 11l5 5 5-5M4 20h16',
  upload: 'M12 16V5M7 9l5-5 5 5M4 20h16',
  history: 'M4 5v5h5M4.500 10a8 8 0 111 6M12 8v4.500l3 2',
  star: 'M12 4l2.500 5.200 5.700.8-4.100 4 1 5.700L12 17l-5.100 2.700 1-5.700-4.100-4 5.700-.8z',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  undo: 'M8 5L4 9l4 4M4 9h10a6 6 0 010 12h-3',
  clock: 'M12 21a9 9 0 100-18 9 9 0 000 18zM12 7v5l3.500 2',
  alert: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  info: 'M12 21a9 9 0 100-18 9 9 0 000 18zM12 11v5M12 8h.01',
  lock: 'M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 017 0v3',
  shield: 'M12 3l8 3v6c0 4.500-3.300 7.700-8 9-4.700-1.300-8-4.500-8-9V6z',
  signOut: 'M10 4H5v16h5M15 8l4 4-4 4M19 12H9',
  stack: 'M12 4l9 4.500-9 4.500-9-4.500zM3 12.500l9 4.500 9-4.500M3 16.500L12 21l9-4.500',
  branch:
    'M7 7a2 2 0 100-4 2 2 0 000 4zM7 21a2 2 0 100-4 2 2 0 000 4zM17 9a2 2 0 100-4 2 2 0 000 4zM7 7v10M17 9c0 4-6 3-9.500 8',
  disk: 'M5 5h14l2 8v6H3v-6zM3 13h18M7 16h.01M11 16h.01',
  hook: 'M10 13a5 5 0 007 0l3-3a5 5 0 00-7-7l-1.500 1.500M14 11a5 5 0 00-7 0l-3 3a5 5 0 007 7l1.500-1.500',
  activity: 'M3 12h4l3-8 4 16 3-8h4',
  pin: 'M9 4h6l-1 6 4 4H6l4-4zM12 14v7',
  refresh: 'M20 11a8 8 0 00-14.500-4L4 9M4 4v5h5M4 13a8 8 0 0014.500 4L20 15M20 20v-5h-5',
  keyboard: 'M3 7h18v11H3zM7 11h.01M11 11h.01M15 11h.01M8 15h8',
  compare: 'M8 4v16M4 8l4-4 4 4M16 20V4M12 16l4 4 4-4',
  sun: 'M12 16a4 4 0 100-8 4 4 0 000 8zM12 2v2M12 20v2M4 12H2M22 12h-2M5 5l1.500 1.500M17.500 17.500L19 19M19 5l-1.500 1.500M6.500 17.500L5 19',
} as const

export type IconName = keyof typeof paths

export const Icon = ({ name, size = 16 }: { readonly name: IconName; readonly size?: 16 | 20 }) => (
  <svg
    className="icon"
    width={size}
    height={size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth={size === 16 ? 2 : 1.75}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d={paths[name]} />
  </svg>
)
