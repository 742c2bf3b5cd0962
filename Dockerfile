# One server on one volume: docker build -t hoglet . && docker run -p 8000:8000 -v hoglet:/data hoglet
FROM python:3.13-slim AS build
WORKDIR /src
RUN python -m venv /opt/hoglet
COPY requirements.lock .
RUN /opt/hoglet/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/hoglet/bin/pip install --no-cache-dir --no-deps .

FROM python:3.13-slim
RUN useradd --uid 10001 --create-home --home-dir /data hoglet
COPY --from=build /opt/hoglet /opt/hoglet
ENV PATH=/opt/hoglet/bin:$PATH HOGLET_DATA_DIR=/data HOGLET_HOST=0.0.0.0 HOGLET_LOG_FORMAT=json
USER hoglet
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=15s --start-period=30s CMD ["hoglet", "status", "--url", "http://127.0.0.1:8000"]
CMD ["hoglet", "serve"]
