import { SegmentedControl, Switch, useMantineColorScheme } from '@mantine/core'
import { useState } from 'react'
import { density, hasShortcuts, setDensity, setShortcuts } from '../../look/preferences.ts'
import { Section } from '../../parts/page.tsx'
import { choose, language, languages, said, t } from '../../words/words.ts'

/** How the console looks in this browser. */
export const Looks = () => {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [compact, setCompact] = useState(density())
  const [shortcuts, setLetters] = useState(hasShortcuts())
  return (
    <Section title={t('me.looks')}>
      <div className="panel">
        <div className="filters">
          <div>
            <span className="small muted" id="theme">
              {t('me.theme')}
            </span>
            <SegmentedControl
              aria-labelledby="theme"
              value={colorScheme}
              onChange={(next) => setColorScheme(next === 'dark' ? 'dark' : next === 'light' ? 'light' : 'auto')}
              data={[
                { value: 'auto', label: t('me.auto') },
                { value: 'light', label: t('me.light') },
                { value: 'dark', label: t('me.dark') },
              ]}
            />
          </div>
          <div>
            <span className="small muted" id="language">
              {t('me.language')}
            </span>
            <SegmentedControl
              aria-labelledby="language"
              value={language()}
              onChange={(next) => void choose(next === 'ru' ? 'ru' : 'en')}
              data={languages.map((each) => ({ value: each, label: said('language', each) }))}
            />
          </div>
          <div>
            <span className="small muted" id="density">
              {t('me.density')}
            </span>
            <SegmentedControl
              aria-labelledby="density"
              value={compact}
              onChange={(next) => {
                const chosen = next === 'compact' ? 'compact' : 'comfortable'
                setDensity(chosen)
                setCompact(chosen)
              }}
              data={[
                { value: 'comfortable', label: t('me.comfortable') },
                { value: 'compact', label: t('me.compact') },
              ]}
            />
          </div>
        </div>
        <Switch
          label={t('me.shortcuts')}
          checked={shortcuts}
          onChange={(event) => {
            setShortcuts(event.currentTarget.checked)
            setLetters(event.currentTarget.checked)
          }}
        />
      </div>
    </Section>
  )
}
