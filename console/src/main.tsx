import { render } from 'preact'
import { startKeys } from './keys.js'
import { place, startRouter } from './router.js'
import { loadScreen } from './shell/Screen.js'
import { begin, isOpen, Shell } from './shell/Shell.js'
import { startTheme } from './shell/theme.js'

// A tab that is older than the build asks for files that are gone: once, the page is loaded anew.
addEventListener('vite:preloadError', (event) => {
  if (sessionStorage.getItem('purser.reloaded') === location.href) return
  event.preventDefault()
  sessionStorage.setItem('purser.reloaded', location.href)
  location.reload()
})

startTheme()
startRouter()
startKeys()
loadScreen(place.value.path)
const root = document.getElementById('console')
// What the page holds already is painted first, and stays until it is known who is signed in: so all is drawn once.
const begun = begin()
void Promise.all([painted(), isOpen(place.value.path) || begun]).then(() => {
  // Preact keeps elements that it did not make: the notice would stay as a second page below.
  root?.replaceChildren()
  if (root !== null) render(<Shell />, root)
})

/** Resolves after the next frame; at once where the page is not to be seen, for there are no frames then. */
function painted(): Promise<void> {
  return new Promise((resolve) => {
    if (document.visibilityState === 'hidden') resolve()
    else requestAnimationFrame(() => setTimeout(resolve))
  })
}
