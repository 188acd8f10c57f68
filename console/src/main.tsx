import './look/styles.ts'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { createRoot } from 'react-dom/client'
import { queries } from './contract/queries.ts'
import { startPreferences } from './look/preferences.ts'
import { theme } from './look/theme.ts'
import { router } from './router.tsx'
import { followSession, refreshSession } from './session/holders.ts'
import { findSession, onSession, session } from './session/session.ts'
import { followStars } from './session/stars.ts'
import { recallUploads } from './upload/queue.ts'
import { LanguageRoot } from './words/language-root.tsx'
import { preferredLanguage, speak } from './words/words.ts'

/** Nobody sees for a moment what was answered to the person before them. */
const forgetAnswersOfOthers = (): void => {
  let person = session()?.account.id
  onSession(() => {
    const next = session()?.account.id
    if (next !== person) queries.clear()
    person = next
  })
}

const start = async (): Promise<void> => {
  const element = document.getElementById('console')
  if (element === null) throw new Error('The page has no place for the console')
  startPreferences()
  await Promise.all([speak(preferredLanguage()), findSession()])
  followSession()
  followStars()
  forgetAnswersOfOthers()
  void recallUploads()
  await refreshSession().catch(() => {})
  createRoot(element).render(
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <QueryClientProvider client={queries}>
        <LanguageRoot>
          <RouterProvider router={router} />
        </LanguageRoot>
      </QueryClientProvider>
    </MantineProvider>,
  )
}

void start()
