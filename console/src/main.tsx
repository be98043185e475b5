/** Puts the console on the page. */
import { render } from 'preact'
import './styles.css'
import { App } from './app.tsx'

const place = document.getElementById('app')
if (place !== null) render(<App />, place)
