import { createTheme } from '@mantine/core'

/** What Mantine is told of our look; the colours themselves stand in tokens.css. */
export const theme = createTheme({
  primaryColor: 'petrol',
  primaryShade: { light: 7, dark: 3 },
  autoContrast: true,
  colors: {
    petrol: [
      '#e9f6f7',
      '#cfeaec',
      '#a2d6da',
      '#5cc4cb',
      '#3ba9b1',
      '#1f8f98',
      '#117a84',
      '#0b6570',
      '#08535c',
      '#063f46',
    ],
  },
  fontFamily: '"IBM Plex Sans Variable", system-ui, sans-serif',
  fontFamilyMonospace: '"IBM Plex Mono", ui-monospace, monospace',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  radius: { xs: '2px', sm: '4px', md: '4px', lg: '8px', xl: '8px' },
  defaultRadius: 'sm',
  headings: { fontWeight: '650' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  // A list of choices scrolls itself: a part of it that scrolls would have to be come by with the keyboard.
  components: Object.fromEntries(
    ['Select', 'MultiSelect', 'TagsInput', 'Autocomplete'].map((name) => [
      name,
      { defaultProps: { withScrollArea: false } },
    ]),
  ),
})
