# Winnow as a server in front of a model endpoint: without the local model's runtime, which has 720 MB.
#   docker build -t winnow .
#   docker run -p 8787:8787 -v ./winnow.yaml:/etc/winnow/winnow.yaml:ro -e ANN_TOKEN winnow
# Commands keep to paths below their folder, so that a test can run them where no Docker is.

FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY command ./command
# The package is built by `npm pack` below.
RUN --mount=type=cache,target=/root/.npm npm install --ignore-scripts
COPY . .
RUN npm pack

FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY deploy/image/package.json ./
COPY --from=build /build/winnow-planner-*.tgz ./
RUN --mount=type=cache,target=/root/.npm npm install --omit=dev ./winnow-planner-*.tgz && rm winnow-planner-*.tgz

# The operator's token, and the store where it is a file.
WORKDIR /var/lib/winnow
RUN chown node:node .
VOLUME /var/lib/winnow
ENV WINNOW_CACHE=/var/lib/winnow WINNOW_CONFIG=/etc/winnow/winnow.yaml
USER node
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8787/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/node_modules/winnow-planner/dist/cli/main.js"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8787"]
